// SPDX-License-Identifier: Apache-2.0
#include "command/words.h"

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"

namespace devlink::internal {

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? '\0' : c;
      in_word = true;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

absl::StatusOr<std::vector<std::string>> ReadList(std::string_view text) {
  std::vector<std::string> items;
  std::string item;
  const auto end_item = [&] {
    item.erase(0, item.find_first_not_of(" \t"));
    item.erase(item.find_last_not_of(' ') + 1);
    if (!item.empty()) items.push_back(std::move(item));
    item.clear();
  };
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (!quoted || text[i - 1] != '\\')) {
      quoted = !quoted;
    } else if (text[i] == ',' && !quoted) {
      end_item();
    } else {
      item.push_back(text[i]);
    }
  }
  if (quoted) return absl::InvalidArgumentError("Stray '\"' character");
  end_item();
  return items;
}

absl::StatusOr<int> ReadNumber(const std::string& text) {
  errno = 0;
  char* end = nullptr;
  const auto value = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0') {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "': expected a number"));
  }
  if (errno != 0 || value < INT32_MIN || value > INT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("32-bit integer value (", text, ") out of range"));
  }
  return static_cast<int>(value);
}

std::vector<std::string> SplitPath(std::string_view value) {
  return absl::StrSplit(base::ToAbsl(value), ':', absl::SkipEmpty());
}

}  // namespace devlink::internal
