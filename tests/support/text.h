// SPDX-License-Identifier: Apache-2.0
//
// Building text. Written here because std::format is missing from one of the compilers that build
// the tests, and because a packaged Abseil may have a string_view of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace devlink::testing {

// A number, a text or a character on its way into a longer text.
class Piece {
 public:
  Piece(std::string_view text) : view_(text) {}         // NOLINT(google-explicit-constructor)
  Piece(const std::string& text) : view_(text) {}       // NOLINT(google-explicit-constructor)
  Piece(const char* text) : view_(text) {}              // NOLINT(google-explicit-constructor)
  Piece(char letter) : own_(1, letter), view_(own_) {}  // NOLINT(google-explicit-constructor)
  template <typename T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, bool>)
  Piece(T number) : own_(std::to_string(number)), view_(own_) {}  // NOLINT
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  std::string own_;
  std::string_view view_;
};

// Text and numbers one behind the other.
inline void AppendPieces(std::string& out, std::initializer_list<std::string_view> pieces) {
  for (const std::string_view p : pieces) out += p;
}
template <typename... Args>
void Append(std::string& out, const Args&... args) {
  AppendPieces(out, {Piece(args).view()...});
}
template <typename... Args>
std::string Cat(const Args&... args) {
  std::string out;
  Append(out, args...);
  return out;
}

// `1f`; with leading zeros up to `digits`.
inline std::string Hex(std::uint64_t number, int digits = 1) {
  std::string out;
  while (number != 0 || digits > 0) {
    out.insert(out.begin(), "0123456789abcdef"[number & 15]);
    number >>= 4;
    --digits;
  }
  return out;
}

// Replaces $0 to $9 by the arguments, $$ by $.
inline std::string SubstitutePieces(std::string_view format,
                                    std::initializer_list<std::string_view> pieces) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '$' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    const char c = format[++i];
    if (c == '$') {
      out += '$';
    } else if (const auto n = static_cast<std::size_t>(c - '0'); n < pieces.size()) {
      out += pieces.begin()[n];
    }
  }
  return out;
}
template <typename... Args>
std::string Substitute(std::string_view format, const Args&... args) {
  return SubstitutePieces(format, {Piece(args).view()...});
}

// Calls `visit` with each line, without its newline.
template <typename Visitor>
void ForEachLine(std::string_view text, Visitor visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

inline std::string Join(const std::vector<std::string>& items, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) Append(out, i == 0 ? "" : separator, items[i]);
  return out;
}

}  // namespace devlink::testing
