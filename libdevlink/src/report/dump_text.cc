// SPDX-License-Identifier: Apache-2.0
#include "report/dump_text.h"

#include <algorithm>
#include <utility>

#include "base/hash_table.h"
#include "base/json.h"

namespace devlink::internal {

namespace {

// Numbers what bears a name that others have, too.
class Numbering {
 public:
  std::string Name(std::string_view name) {
    const std::uint32_t count = ++count_[name];
    std::string out = DumpWord(name);
    if (count > 1) absl::StrAppend(&out, "#", count);
    return out;
  }

 private:
  base::HashMap<std::string_view, std::uint32_t> count_;
};

// FNV-1a: enough to see that bytes differ.
std::uint32_t SumOf(base::Bytes bytes) {
  std::uint32_t sum = 0x811c9dc5;
  for (const std::uint8_t byte : bytes) sum = (sum ^ byte) * 0x01000193;
  return sum;
}

}  // namespace

std::string DumpWord(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c != 0x7f && c != '"';  // no bytes of UTF-8 either: char is signed here
  });
  return plain ? std::string(text) : base::JsonString(text);
}

std::string DumpHex(std::uint64_t number) { return absl::StrCat("0x", absl::Hex(number)); }

std::string DumpPiece(const Piece& piece) {
  constexpr std::size_t kShown = 16;
  std::string out =
      absl::StrCat(DumpHex(piece.offset), ": ", DumpHex(piece.bytes.size()), " bytes");
  if (piece.bytes.size() > kShown) {
    absl::StrAppend(&out, ", sum ", absl::Hex(SumOf(piece.bytes), absl::kZeroPad8));
    return out;
  }
  const char* separator = ", ";
  for (const std::uint8_t byte : piece.bytes) {
    absl::StrAppend(&out, separator, absl::Hex(byte, absl::kZeroPad2));
    separator = " ";
  }
  return out;
}

DumpNames::DumpNames(const Program& program) : program_(program) {
  Numbering sections;
  sections_.reserve(program.sections.size());
  for (const auto& section : program.sections) sections_.push_back(sections.Name(section.name));
  Numbering symbols;
  symbols_.reserve(program.symbols.size());
  for (const auto& symbol : program.symbols) symbols_.push_back(symbols.Name(symbol.name));
}

DumpLines& DumpLines::Line(int level, std::string_view word) {
  if (!text_.empty()) text_ += '\n';
  text_.append(static_cast<std::size_t>(level) * 2, ' ');
  text_ += word;
  return *this;
}

DumpLines& DumpLines::Word(std::string_view word) {
  text_ += ' ';
  text_ += word;
  return *this;
}

DumpLines& DumpLines::Pair(std::string_view key, std::string_view value) {
  Word(key);
  text_ += '=';
  text_ += value;
  return *this;
}

DumpLines& DumpLines::Number(std::string_view key, std::uint64_t value) {
  return Pair(key, std::to_string(value));
}

std::string DumpLines::Take() {
  if (!text_.empty()) text_ += '\n';
  return std::exchange(text_, {});
}

}  // namespace devlink::internal
