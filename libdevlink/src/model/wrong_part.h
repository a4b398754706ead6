// SPDX-License-Identifier: Apache-2.0
//
// What the checks of a module hold it to, and what they find.
#pragma once

#include <cstdint>
#include <string_view>

namespace devlink::internal {

// To which forms a file is held: any in which it can be read, or those that all of NVIDIA's have.
enum class Forms : std::uint8_t { kAny, kKnown };

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
