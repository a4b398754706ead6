// SPDX-License-Identifier: Apache-2.0
#include "devlink/words.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace devlink::app {

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

std::optional<std::string> ReadList(const std::vector<std::string>& values,
                                    std::vector<std::string>& out) {
  const auto add = [&out](std::string item) {
    item.erase(0, item.find_first_not_of(" \t"));
    item.erase(item.find_last_not_of(' ') + 1);
    if (!item.empty()) out.push_back(std::move(item));
  };
  for (const std::string& value : values) {
    std::string item;
    bool quoted = false;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '"' && (!quoted || value[i - 1] != '\\')) {
        quoted = !quoted;
      } else if (value[i] == ',' && !quoted) {
        add(std::move(item));
        item.clear();
      } else {
        item.push_back(value[i]);
      }
    }
    if (quoted) return "Stray '\"' character";
    add(std::move(item));
  }
  return std::nullopt;
}

std::optional<std::string> ReadNumber(const std::string& text, int& out) {
  errno = 0;
  char* end = nullptr;
  const auto value = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0') return fmt::format("'{}': expected a number", text);
  if (errno != 0 || value < INT32_MIN || value > INT32_MAX) {
    return fmt::format("32-bit integer value ({}) out of range", text);
  }
  out = static_cast<int>(value);
  return std::nullopt;
}

}  // namespace devlink::app
