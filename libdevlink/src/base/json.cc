// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/visible_text.h"

namespace devlink::base {

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto character = FirstCharacter(text);
    const std::size_t length = character ? character->length : 1;
    const char c = text.front();
    if (!character) {
      out += "\xef\xbf\xbd";  // U+FFFD
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (character->is_control || c == '\t') {
      absl::StrAppend(&out, "\\u", absl::Hex(character->code, absl::kZeroPad4));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
  return out;
}

}  // namespace devlink::base
