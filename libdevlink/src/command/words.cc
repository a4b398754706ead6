// SPDX-License-Identifier: Apache-2.0
#include "command/words.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"

namespace devlink::internal {

absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view text) {
  constexpr std::string_view kBetweenWords = " \t\r\n";
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  bool quoted = false;
  text = text.substr(0, text.find('\0'));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quoted && kBetweenWords.find(c) != std::string_view::npos) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\') {
      if (++i == text.size()) return absl::InvalidArgumentError("Stray '' character");
      if (text[i] != '"') word += text[i];
    } else if (c == '"') {
      quoted = !quoted;
    } else {
      word += c;
    }
  }
  if (quoted) return absl::InvalidArgumentError("Stray '\"' character");
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

std::string ForShell(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool IsAskedFor(std::span<const std::string> words, std::string_view option,
                std::string_view value) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word.starts_with("--")) word.remove_prefix(1);
    if (!word.starts_with('-') || !word.substr(1).starts_with(option)) continue;
    word.remove_prefix(1 + option.size());
    if (word.starts_with('=') && word.substr(1) == value) return true;
    if (word.empty() && i + 1 < words.size() && words[i + 1] == value) return true;
  }
  return false;
}

std::vector<std::string> SplitPath(std::string_view value) {
  return absl::StrSplit(base::ToAbsl(value), ':', absl::SkipEmpty());
}

absl::Status Wrong(std::initializer_list<std::string_view> pieces) {
  return absl::InvalidArgumentError(base::Cat(pieces));
}

std::string BaseName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string_view FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string Within(std::string_view folder, std::string_view file) {
  return base::Cat({folder, folder.ends_with('/') ? "" : "/", file});
}

}  // namespace devlink::internal
