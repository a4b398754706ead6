// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace devlink::internal {

// Bytes that grow at their end a few at a time: a std::vector clears or checks more than the four
// bytes that are put there.
class OwnBytes {
 public:
  // Counts the next `size` bytes as there and lends their place, to be filled.
  std::uint8_t* Extend(std::size_t size) {
    if (capacity_ - size_ < size) Reserve(std::max(size_ + size, capacity_ * 2));
    std::uint8_t* place = bytes_.get() + size_;
    size_ += size;
    return place;
  }
  void Reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto grown = std::make_unique_for_overwrite<std::uint8_t[]>(capacity);
    if (size_ != 0) std::memcpy(grown.get(), bytes_.get(), size_);
    bytes_ = std::move(grown);
    capacity_ = capacity;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint8_t* data() { return bytes_.get(); }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace devlink::internal
