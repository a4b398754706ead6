// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace devlink::testing {

// For LinkOptions::before_output: fills what functions that have returned left on the stack. An
// output that still borrows any of it comes out wrong.
inline void OverwriteStack() {
  std::array<volatile std::uint8_t, 1 << 16> bytes;
  for (volatile std::uint8_t& byte : bytes) byte = 0xa5;
}

}  // namespace devlink::testing
