// SPDX-License-Identifier: Apache-2.0
//
// What the checks of a module find.
#pragma once

#include <cstdint>
#include <string_view>

namespace devlink::internal {

// What is wrong with a section; `what` is empty where nothing is.
struct WrongSection {
  std::uint32_t section = 0;
  std::string_view what;
};

// The same of a symbol.
struct WrongSymbol {
  std::uint32_t symbol = 0;
  std::string_view what;
};

}  // namespace devlink::internal
