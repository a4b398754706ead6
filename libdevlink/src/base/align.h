// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace devlink::base {

// The next multiple of `align`; 0 and 1 leave the value as it is.
constexpr std::uint64_t AlignUp(std::uint64_t value, std::uint64_t align) {
  return align <= 1 ? value : (value + align - 1) / align * align;
}

constexpr bool IsPowerOfTwo(std::uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace devlink::base
