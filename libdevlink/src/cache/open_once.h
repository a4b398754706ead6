// SPDX-License-Identifier: Apache-2.0
//
// A tool that is opened when something first needs it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace devlink::internal {

// Opens at most once. A failure is that of everybody who waited for it; whoever asks later tries
// again, since what was missing may be there by then. Nobody who only asks what is open waits for
// what is being opened. Thread-safe; what was opened stays for as long as the object lives.
template <typename Tool>
class OpenOnce {
 public:
  using Open = std::function<absl::StatusOr<std::unique_ptr<Tool>>()>;

  explicit OpenOnce(Open open) : open_(std::move(open)) {}

  absl::StatusOr<const Tool*> Get() {
    std::unique_lock lock(mutex_);
    if (is_opening_) {
      const std::uint64_t attempt = attempts_;
      done_.wait(lock, [&] { return attempts_ != attempt; });
      if (tool_ == nullptr) return refused_;
    }
    if (tool_ != nullptr) return tool_.get();
    is_opening_ = true;
    refused_ = absl::InternalError("a tool was not opened");  // where an exception says so
    lock.unlock();
    {
      // However it ends, those who wait go on.
      const absl::Cleanup end = [&] {
        lock.lock();
        is_opening_ = false;
        ++attempts_;
        done_.notify_all();
      };
      // Without the lock: this may load a library or run a program.
      auto opened = open_();
      const std::lock_guard take(mutex_);
      refused_ = opened.status();
      if (opened.ok()) tool_ = *std::move(opened);
    }
    if (tool_ == nullptr) return refused_;
    return tool_.get();
  }

  // Null as long as Get did not succeed.
  [[nodiscard]] const Tool* opened() const {
    const std::lock_guard lock(mutex_);
    return tool_.get();
  }

 private:
  const Open open_;
  mutable std::mutex mutex_;
  std::condition_variable done_;
  bool is_opening_ = false;
  std::uint64_t attempts_ = 0;  // that have ended
  std::unique_ptr<Tool> tool_;
  absl::Status refused_;  // of the last attempt
};

}  // namespace devlink::internal
