// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"

namespace devlink::base {

// Debian builds Abseil with a string_view of its own; the two never convert by themselves.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view FromAbsl(absl::string_view text) { return {text.data(), text.size()}; }

// Joins pieces into one string.
inline std::string Cat(std::initializer_list<std::string_view> pieces) {
  std::size_t size = 0;
  for (std::string_view piece : pieces) size += piece.size();
  std::string out;
  out.reserve(size);
  for (std::string_view piece : pieces) out.append(piece);
  return out;
}

// Keeps strings made while linking alive, at addresses that do not move.
class StringArena {
 public:
  std::string_view Concat(std::string_view head, std::string_view tail) {
    const std::size_t size = head.size() + tail.size();
    if (room_ < size) Grow(size);
    char* out = next_;
    if (!head.empty()) std::memcpy(out, head.data(), head.size());
    if (!tail.empty()) std::memcpy(out + head.size(), tail.data(), tail.size());
    next_ += size;
    room_ -= size;
    return {out, size};
  }

 private:
  // The first chunk is small: most links make few strings, and a large one that comes and goes with
  // each of them costs the allocator more than all of their small ones.
  void Grow(std::size_t at_least) {
    constexpr std::size_t kLargest = 1 << 18;
    room_ = std::max(at_least, chunk_size_);
    // Not zeroed: what a link does not use of a chunk stays untouched.
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(room_));
    next_ = chunks_.back().get();
    chunk_size_ = std::min(chunk_size_ * 4, kLargest);
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_size_ = 1 << 10;
  char* next_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace devlink::base
