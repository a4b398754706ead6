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

}  // namespace devlink::testing
