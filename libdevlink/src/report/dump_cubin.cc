// SPDX-License-Identifier: Apache-2.0
//
// A cubin as text: what its section headers and its symbol table say. Unlike a Module this reads
// executables, and it takes whatever bytes it is given.
#include <algorithm>
#include <cstdint>

#include "format/elf_cuda.h"
#include "report/dump.h"
#include "report/dump_text.h"

namespace devlink::internal {

namespace {

class CubinDump {
 public:
  explicit CubinDump(base::Bytes cubin) : file_(cubin) {}

  std::string Run() {
    if (!file_.Read(0, header_)) return "shorter than an ELF header\n";
    lines_.Line(0, header_.type == format::kTypeExec ? "executable" : "relocatable");
    lines_.Hex("flags", header_.flags);
    const format::Shdr first = At(0);
    count_ = format::SectionCountOf(header_, first);
    count_ = std::min<std::uint64_t>(count_, file_.size() / sizeof(format::Shdr));
    names_ = At(format::SectionNamesOf(header_, first));
    lines_.Line(0, "sections");
    for (std::uint64_t i = 1; i < count_; ++i) AddSection(At(i));
    for (std::uint64_t i = 1; i < count_; ++i) {
      if (At(i).type == format::kShtSymtab) AddSymbols(At(i));
    }
    return lines_.Take();
  }

 private:
  [[nodiscard]] format::Shdr At(std::uint64_t index) const {
    return file_.ReadOrZero<format::Shdr>(header_.shoff + index * sizeof(format::Shdr));
  }
  [[nodiscard]] std::string Text(const format::Shdr& table, std::uint64_t offset) const {
    const auto bytes = file_.Slice(table.offset, table.size);
    if (!bytes) return "?";
    const auto text = base::BoundedReader(*bytes).CString(offset);
    return text ? DumpWord(*text) : "?";
  }
  [[nodiscard]] std::string NameOf(std::uint64_t index) const {
    return index < count_ ? Text(names_, At(index).name) : DumpHex(index);
  }

  void AddSection(const format::Shdr& section) {
    lines_.Line(1, Text(names_, section.name)).Hex("type", section.type);
    lines_.Hex("size", section.size).Number("align", section.addralign);
    if (section.flags != 0) lines_.Hex("flags", section.flags);
    if (section.link != 0) lines_.Pair("link", NameOf(section.link));
    if (section.info == 0) return;
    if ((section.flags & format::kShfInfoLink) != 0) {
      lines_.Pair("info", NameOf(section.info));
    } else {
      lines_.Hex("info", section.info);
    }
  }

  void AddSymbols(const format::Shdr& table) {
    lines_.Line(0, "symbols");
    const format::Shdr strings = At(table.link);
    const auto bytes = file_.Slice(table.offset, table.size);
    if (!bytes) return;
    const base::BoundedReader symbols(*bytes);
    format::Sym symbol = {};
    for (std::uint64_t at = 0; symbols.Read(at, symbol); at += sizeof(symbol)) {
      lines_.Line(1, Text(strings, symbol.name)).Number("type", symbol.info & 0xf);
      lines_.Number("binding", symbol.info >> 4);
      if (symbol.other != 0) lines_.Hex("other", symbol.other);
      if (symbol.shndx != format::kShnUndef) lines_.Pair("section", NameOf(symbol.shndx));
      if (symbol.value != 0) lines_.Hex("value", symbol.value);
      if (symbol.size != 0) lines_.Hex("size", symbol.size);
    }
  }

  base::BoundedReader file_;
  format::Ehdr header_ = {};
  format::Shdr names_ = {};
  std::uint64_t count_ = 0;
  DumpLines lines_;
};

}  // namespace

std::string DumpCubin(base::Bytes cubin) { return CubinDump(cubin).Run(); }

}  // namespace devlink::internal
