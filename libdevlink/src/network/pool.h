// SPDX-License-Identifier: Apache-2.0
//
// Connections that wait for the next request.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace devlink::internal {

// Thread-safe. Never hands one object to two threads.
template <typename T>
class Pool {
 public:
  explicit Pool(std::size_t max_idle) : max_idle_(max_idle) {}

  // The one that came back last, whose other side is the least likely to have left; null where none
  // waits.
  std::unique_ptr<T> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<T> out = std::move(idle_.back());
    idle_.pop_back();
    return out;
  }

  // Beyond the bound it is destroyed.
  void GiveBack(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < max_idle_) idle_.push_back(std::move(object));
  }

 private:
  const std::size_t max_idle_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace devlink::internal
