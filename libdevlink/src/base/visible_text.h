// SPDX-License-Identifier: Apache-2.0
//
// Names come from inputs, and a terminal obeys some characters instead of showing them. Whatever
// renders names for people or programs asks here which those are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace devlink::base {

// One character at the beginning of a text.
struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // bytes
  // Not to be printed as it is: control characters, ends of lines and paragraphs, and what changes
  // the direction of writing. A tab is harmless.
  bool is_control = false;
};

// Nothing where `text`, which is not empty, does not begin with UTF-8.
std::optional<Utf8Character> FirstCharacter(std::string_view text);

// The text on one line, as a person may see it: \x1b, \u202e and the like stand for what is not to
// be printed, \xff and the like for bytes that are not UTF-8. Everything else is unchanged.
std::string VisibleText(std::string_view text);

}  // namespace devlink::base
