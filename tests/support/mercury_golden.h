// SPDX-License-Identifier: Apache-2.0
//
// Cubins with two views, as ptxas made them (tests/golden/mercury).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.h"

namespace devlink::testing {

// Empty where there is no such file.
inline std::vector<std::uint8_t> MercuryGolden(std::string_view name) {
  return ReadBytes(std::string(DEVLINK_TEST_SOURCE "/golden/mercury/").append(name))
      .value_or(std::vector<std::uint8_t>());
}

// Their code, by section.
namespace golden_code {
inline constexpr std::string_view kSum = ".text._Z3SumPii";
inline constexpr std::string_view kDynamic = ".text._Z7DynamicPii";
inline constexpr std::string_view kIndirect = ".text._Z8IndirectPii";
inline constexpr std::string_view kFar = ".text._Z3fari";
inline constexpr std::string_view kTaken = ".text._Z5Takeni";
inline constexpr std::string_view kJump = ".text._Z4Jumpi";
inline constexpr std::string_view kTwice = ".text._Z5TwiceIiET_S0_";
inline constexpr std::string_view kUnused = ".text._Z6Unusedi";
}  // namespace golden_code

}  // namespace devlink::testing
