// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace devlink::testing {

// The number that lies at an offset; zero where the bytes end before.
template <typename T>
T NumberAt(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  T out = {};
  if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset) {
    std::memcpy(&out, bytes.data() + offset, sizeof(T));
  }
  return out;
}

}  // namespace devlink::testing
