// SPDX-License-Identifier: Apache-2.0
//
// Says when a server is not worth asking any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>

namespace devlink::internal {

// Thread-safe. What has tripped stays so. Answers that take much longer than they should count with
// the time beyond that: many of them cost as much as faults.
class Breaker {
 public:
  Breaker(std::uint32_t max_faults, std::chrono::milliseconds max_lost)
      : max_faults_(max_faults), max_lost_(max_lost) {}

  [[nodiscard]] bool has_tripped() const {
    const std::lock_guard lock(mutex_);
    return tripped_;
  }

  void Worked(std::chrono::milliseconds time, std::uint64_t bytes) {
    constexpr std::chrono::milliseconds kForRequest(250);
    constexpr std::uint64_t kBytesPerMillisecond = 1 << 10;
    const auto excess =
        time - kForRequest -
        std::chrono::milliseconds(static_cast<std::int64_t>(bytes / kBytesPerMillisecond));
    const std::lock_guard lock(mutex_);
    in_a_row_ = 0;
    if (excess.count() <= 0) return;
    lost_ += excess;
    if (tripped_ || lost_ < max_lost_) return;
    tripped_ = true;
    is_news_ = true;
  }

  // True once where an answer, which was given nevertheless, has tripped it.
  bool TakeNews() {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_news_, false);
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
  bool is_news_ = false;
};

}  // namespace devlink::internal
