// SPDX-License-Identifier: Apache-2.0
#include "format/ptx_text.h"

#include <algorithm>
#include <cstddef>

namespace devlink::format {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr std::string_view kBlanks = " \t\n\r\f\v";

bool IsSpace(char c) { return kBlanks.find(c) != std::string_view::npos; }

// Behind the comment that begins at `at`. The star of `/*` may be that of `*/`, as in `/*/`.
std::size_t EndOfComment(std::string_view text, std::size_t at) {
  if (text[at + 1] == '/') return std::min(text.find_first_of("\r\n", at), text.size());
  const std::size_t end = text.find("*/", at + 1);
  return end == std::string_view::npos ? text.size() : end + 2;
}

// Behind the string whose opening quote stands at `at`.
std::size_t EndOfString(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '"' && text[i - 1] != '\\') return i + 1;
  }
  return text.size();
}

}  // namespace

bool BeginsAsPtx(std::string_view text) {
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    std::string_view close;
    if (text.starts_with("//")) {
      close = "\n";
    } else if (text.starts_with("/*")) {
      close = "*/";
    } else {
      return text.starts_with(".version");
    }
    const std::size_t end = text.find(close, 2);
    if (end == std::string_view::npos) return false;
    if (text.substr(0, end).find('\0') != std::string_view::npos) return false;
    text.remove_prefix(end + close.size());
  }
}

std::optional<PtxVersion> FindPtxVersion(std::string_view text) {
  constexpr std::string_view kVersion = ".version";
  constexpr std::uint32_t kMost = 999;
  std::size_t at = text.find(kVersion);
  if (at == std::string_view::npos) return std::nullopt;
  at += kVersion.size();
  while (at < text.size() && IsSpace(text[at])) ++at;
  std::uint32_t major = 0;
  const std::size_t first = at;
  for (; at < text.size() && IsDigit(text[at]) && major <= kMost; ++at) {
    major = major * 10 + static_cast<std::uint32_t>(text[at] - '0');
  }
  if (at == first || major > kMost || at + 1 >= text.size() || text[at] != '.' ||
      !IsDigit(text[at + 1])) {
    return std::nullopt;
  }
  return PtxVersion{static_cast<std::uint16_t>(major),
                    static_cast<std::uint16_t>(text[at + 1] - '0')};
}

std::string CompactPtx(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  char previous = 0;  // of the input, the last one of a comment or string as a whole
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) {
      i = EndOfComment(text, i);
      previous = '/';
      continue;
    }
    if (c == '"' && previous != '\\') {
      const std::size_t end = EndOfString(text, i);
      out.append(text.substr(i, end - i));
      i = end;
      previous = '"';
      continue;
    }
    const bool is_blank = c == ' ' || c == '\t';
    if (!is_blank || !IsSpace(previous)) out.push_back(c);
    previous = c;
    ++i;
  }
  return out;
}

}  // namespace devlink::format
