// SPDX-License-Identifier: Apache-2.0
//
// Relocations that many tests write, by their numbers in cubins.
#pragma once

#include <cstdint>

namespace devlink::testing {

inline constexpr std::uint32_t kAbs32 = 0x01;
inline constexpr std::uint32_t kAbs64 = 0x02;
inline constexpr std::uint32_t kTexSlot = 0x13;  // nothing can be done with it
inline constexpr std::uint32_t kAbs32Lo = 0x38;

}  // namespace devlink::testing
