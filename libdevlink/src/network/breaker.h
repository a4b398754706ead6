// SPDX-License-Identifier: Apache-2.0
//
// Says when a server is not worth asking any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace devlink::internal {

// Thread-safe. What has tripped stays so.
class Breaker {
 public:
  Breaker(std::uint32_t max_faults, std::chrono::milliseconds max_lost)
      : max_faults_(max_faults), max_lost_(max_lost) {}

  [[nodiscard]] bool has_tripped() const {
    const std::lock_guard lock(mutex_);
    return tripped_;
  }

  void Worked() {
    const std::lock_guard lock(mutex_);
    in_a_row_ = 0;
  }

  // True for the fault that trips it.
  bool Failed(std::chrono::milliseconds cost) {
    const std::lock_guard lock(mutex_);
    ++in_a_row_;
    lost_ += cost;
    const bool trips = !tripped_ && (in_a_row_ >= max_faults_ || lost_ >= max_lost_);
    tripped_ = tripped_ || trips;
    return trips;
  }

 private:
  const std::uint32_t max_faults_;
  const std::chrono::milliseconds max_lost_;
  mutable std::mutex mutex_;
  std::uint32_t in_a_row_ = 0;
  std::chrono::milliseconds lost_ = {};
  bool tripped_ = false;
};

}  // namespace devlink::internal
