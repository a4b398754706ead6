// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace devlink::base {

// A file descriptor that closes itself. Negative: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  // Whoever asks closes it.
  int Release() { return std::exchange(number_, -1); }
  // False, with errno, where the system lost what was written.
  bool Close() { return close(Release()) == 0; }

 private:
  int number_;
};

}  // namespace devlink::base
