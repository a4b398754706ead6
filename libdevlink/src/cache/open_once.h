// SPDX-License-Identifier: Apache-2.0
//
// A tool that a user of the cache opens only where something is not found.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace devlink::internal {

// Opens at most once, and remembers a failure too. Thread-safe; what was opened stays for as long
// as the object lives.
template <typename Tool>
class OpenOnce {
 public:
  using Open = std::function<absl::StatusOr<std::unique_ptr<Tool>>()>;

  explicit OpenOnce(Open open) : open_(std::move(open)) {}

  absl::StatusOr<const Tool*> Get() {
    const std::lock_guard lock(mutex_);
    if (tool_ == nullptr && refused_.ok()) {
      auto opened = open_();
      if (opened.ok()) {
        tool_ = *std::move(opened);
      } else {
        refused_ = opened.status();
      }
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
  std::unique_ptr<Tool> tool_;
  absl::Status refused_;
};

}  // namespace devlink::internal
