// SPDX-License-Identifier: Apache-2.0
#include "base/visible_text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace devlink::base {

namespace {

std::size_t LengthBy(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

bool IsControl(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  if (code == '\t') return false;
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

bool IsPlain(char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; }

}  // namespace

std::optional<Utf8Character> FirstCharacter(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  Utf8Character out;
  out.length = LengthBy(byte(0));
  if (out.length == 0 || out.length > text.size()) return std::nullopt;
  // A sequence of n bytes leaves 7 - n bits to the first.
  out.code = out.length == 1 ? byte(0) : byte(0) & (0x7fU >> out.length);
  for (std::size_t i = 1; i < out.length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    out.code = out.code << 6 | (byte(i) & 0x3fU);
  }
  // Overlong forms, halves of surrogate pairs, and what lies beyond the last character.
  const bool is_overlong =
      (out.length == 3 && out.code < 0x800) || (out.length == 4 && out.code >> 16 == 0);
  const bool is_half = out.code >= 0xd800 && out.code < 0xe000;
  if (is_overlong || is_half || out.code > 0x10ffff) return std::nullopt;
  out.is_control = IsControl(out.code);
  return out;
}

std::string VisibleText(std::string_view text) {
  if (std::ranges::all_of(text, IsPlain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const auto character = FirstCharacter(text);
    const std::size_t length = character ? character->length : 1;
    if (character && !character->is_control) {
      out += text.substr(0, length);
    } else if (length == 1) {
      absl::StrAppend(&out, "\\x", absl::Hex(static_cast<unsigned char>(text[0]), absl::kZeroPad2));
    } else {
      absl::StrAppend(&out, "\\u", absl::Hex(character->code, absl::kZeroPad4));
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace devlink::base
