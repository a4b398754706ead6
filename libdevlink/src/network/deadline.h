// SPDX-License-Identifier: Apache-2.0
//
// How long a request has taken, and how long it may still take.
#pragma once

#include <algorithm>
#include <chrono>

namespace devlink::internal {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(std::chrono::milliseconds limit) : begin_(Clock::now()), end_(begin_ + limit) {}

  // Rounded up, so that nobody who waits for it wakes up too early; 0 when it is over.
  [[nodiscard]] std::chrono::milliseconds Left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }
  [[nodiscard]] std::chrono::milliseconds Spent() const {
    return std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin_);
  }

 private:
  Clock::time_point begin_;
  Clock::time_point end_;
};

}  // namespace devlink::internal
