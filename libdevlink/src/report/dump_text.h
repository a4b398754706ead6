// SPDX-License-Identifier: Apache-2.0
//
// What all dumps share: how things are called, and how lines are built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "model/program.h"

namespace devlink::internal {

// `text` as it is, or quoted where it could be taken for more than one word.
std::string DumpWord(std::string_view text);

// `0x1f`
std::string DumpHex(std::uint64_t number);

// `0x0 16 bytes: ...`: up to 16 bytes are shown, of more a sum.
std::string DumpPiece(const Piece& piece);

// Calls sections and symbols by their names; of several with one name, the second is `name#2`.
class DumpNames {
 public:
  explicit DumpNames(const Program& program);

  // `-` for kNone.
  [[nodiscard]] std::string_view Section(SectionId id) const { return At(sections_, id); }
  [[nodiscard]] std::string_view Symbol(SymbolId id) const { return At(symbols_, id); }
  [[nodiscard]] std::string_view Function(FunctionId id) const {
    return id == kNone ? "-" : Symbol(program_.functions[id].symbol);
  }

 private:
  static std::string_view At(const std::vector<std::string>& names, std::uint32_t id) {
    return id == kNone ? std::string_view("-") : std::string_view(names[id]);
  }

  const Program& program_;
  std::vector<std::string> sections_;
  std::vector<std::string> symbols_;
};

// Lines of words. A line is indented by two spaces for each level.
class DumpLines {
 public:
  // Ends the line before.
  DumpLines& Line(int level, std::string_view word);
  // Another word of the line.
  DumpLines& Word(std::string_view word);
  DumpLines& WordIf(bool said, std::string_view word) { return said ? Word(word) : *this; }
  // `key=value`
  DumpLines& Pair(std::string_view key, std::string_view value);
  DumpLines& Number(std::string_view key, std::uint64_t value);  // decimal
  DumpLines& Hex(std::string_view key, std::uint64_t value) { return Pair(key, DumpHex(value)); }
  // Nothing for kNone.
  DumpLines& SectionIf(const DumpNames& names, std::string_view key, SectionId id) {
    return id == kNone ? *this : Pair(key, names.Section(id));
  }
  DumpLines& FunctionIf(const DumpNames& names, std::string_view key, FunctionId id) {
    return id == kNone ? *this : Pair(key, names.Function(id));
  }

  [[nodiscard]] std::string Take();

 private:
  std::string text_;
};

}  // namespace devlink::internal
