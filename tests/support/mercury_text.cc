// SPDX-License-Identifier: Apache-2.0
#include "support/mercury_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "support/number_at.h"
#include "support/text.h"

namespace devlink::testing {

namespace {

constexpr std::uint64_t kReserved = 0x400;  // that the finalizer puts before shared memory
constexpr std::uint32_t kMercuryFlag = 0x10000000;
constexpr std::uint32_t kNobits = 8;

struct Section {
  std::string file_name;
  std::string name;  // in the words of machine code
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;
  std::uint32_t info = 0;
  std::uint64_t align = 0;
  std::uint64_t entry_size = 0;
  std::span<const std::uint8_t> data;
};

struct Symbol {
  std::string name;
  std::uint32_t name_offset = 0;
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

std::string GetString(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  std::string out;
  while (offset < bytes.size() && bytes[offset] != 0) out += static_cast<char>(bytes[offset++]);
  return out;
}

bool Takes(std::string_view name, std::string_view prefix) { return name.starts_with(prefix); }

constexpr int kFirstShared = 7;

// Where nvlink's file has the section among those of the Mercury view; the last are sections that
// both views share. Nothing for tables and notes.
std::optional<int> RankOf(std::string_view name, bool shared) {
  if (shared) {
    if (Takes(name, ".nv.shared.") || name == ".nv.global" || name == ".nv_debug.shared")
      return kFirstShared + 1;
    if (name == ".nv.callgraph" || name == ".nv.prototype") return kFirstShared;
    return std::nullopt;
  }
  if (Takes(name, ".text.")) return 0;
  if (Takes(name, ".debug_") || Takes(name, ".nv_debug_")) return 1;
  if (name == ".nv.info") return 2;
  if (Takes(name, ".nv.info.")) return 3;
  if (Takes(name, ".rela.")) return 4;
  if (Takes(name, ".nv.constant")) return 5;
  if (name == ".nv.global.init") return 6;
  return std::nullopt;
}

class Describer {
 public:
  Describer(std::span<const std::uint8_t> file, bool linked, bool capsule_sizes)
      : file_(file), linked_(linked), capsule_sizes_(capsule_sizes) {
    ReadSections();
    ReadSymbols();
  }

  std::vector<std::string> Run() {
    std::vector<std::pair<int, const Section*>> order;
    for (const Section& section : sections_) {
      const bool own =
          Takes(section.file_name, ".nv.capmerc") || Takes(section.file_name, ".nv.merc.");
      const auto shared = RankOf(section.name, true);
      // Of nvlink's file only the sections with a prefix are the view's own.
      const auto rank = shared ? shared : (own || !linked_) ? RankOf(section.name, false) : shared;
      if (rank) order.emplace_back(*rank, &section);
    }
    // nvlink's order is that of its file; only what both views share goes to the end.
    const auto key = [this](int rank) { return linked_ && rank < kFirstShared ? 0 : rank; };
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto& a, const auto& b) { return key(a.first) < key(b.first); });
    for (const auto& [rank, section] : order) Describe(*section);
    for (std::size_t i = 0; i < symbols_.size(); ++i) DescribeSymbol(i);
    return std::move(out_);
  }

 private:
  void ReadSections() {
    const auto table = NumberAt<std::uint64_t>(file_, 40);
    const auto count = NumberAt<std::uint16_t>(file_, 60);
    const auto names = NumberAt<std::uint16_t>(file_, 62);
    const auto names_at = NumberAt<std::uint64_t>(file_, table + names * 64 + 24);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t at = table + i * 64;
      Section& section = sections_.emplace_back();
      section.file_name = GetString(file_.subspan(std::min<std::uint64_t>(names_at, file_.size())),
                                    NumberAt<std::uint32_t>(file_, at));
      section.name = section.file_name;
      section.type = NumberAt<std::uint32_t>(file_, at + 4);
      section.flags = NumberAt<std::uint64_t>(file_, at + 8);
      const auto offset = NumberAt<std::uint64_t>(file_, at + 24);
      section.size = NumberAt<std::uint64_t>(file_, at + 32);
      section.info = NumberAt<std::uint32_t>(file_, at + 44);
      section.align = NumberAt<std::uint64_t>(file_, at + 48);
      section.entry_size = NumberAt<std::uint64_t>(file_, at + 56);
      if (section.type != kNobits && offset <= file_.size() &&
          section.size <= file_.size() - offset) {
        section.data = file_.subspan(offset, section.size);
      }
      if (!linked_) continue;
      for (const std::string_view prefix : {".nv.capmerc", ".nv.merc"}) {
        if (Takes(section.name, prefix) && section.name != ".nv.merc.symtab") {
          section.name = section.name.substr(prefix.size());
        }
      }
    }
  }

  void ReadSymbols() {
    const std::string_view table = linked_ ? ".nv.merc.symtab" : ".symtab";
    std::span<const std::uint8_t> strings;
    for (const Section& section : sections_) {
      if (section.file_name == ".strtab") strings = section.data;
    }
    for (const Section& section : sections_) {
      if (section.file_name != table) continue;
      out_.push_back(Cat("symbols ", section.size / 24, " global from ", section.info));
      for (std::uint64_t at = 0; at < section.size; at += 24) {
        Symbol& symbol = symbols_.emplace_back();
        symbol.name_offset = NumberAt<std::uint32_t>(section.data, at);
        symbol.name = GetString(strings, symbol.name_offset);
        symbol.info = NumberAt<std::uint8_t>(section.data, at + 4);
        symbol.other = NumberAt<std::uint8_t>(section.data, at + 5);
        symbol.section = NumberAt<std::uint16_t>(section.data, at + 6);
        symbol.value = NumberAt<std::uint64_t>(section.data, at + 8);
        symbol.size = NumberAt<std::uint64_t>(section.data, at + 16);
      }
    }
  }

  [[nodiscard]] std::string SectionName(std::uint32_t index) const {
    return index < sections_.size() ? sections_[index].name : Cat("section ", index);
  }
  [[nodiscard]] std::string SymbolName(std::uint32_t index) const {
    return index < symbols_.size() ? Cat(index, " ", symbols_[index].name) : Cat("symbol ", index);
  }

  void Describe(const Section& section) {
    const bool code = Takes(section.name, ".text.");
    const bool relocations = Takes(section.name, ".rela.");
    const bool reserved =
        linked_ && (Takes(section.name, ".nv.shared.") || section.name == ".nv_debug.shared");
    std::string line = Cat("section ", section.name);
    if (!code || capsule_sizes_) {
      Append(line, " size ", reserved ? section.size - kReserved : section.size);
    }
    Append(line, " align ", section.align, " entry ", section.entry_size);
    if (!code) Append(line, " flags ", Hex(section.flags & ~std::uint64_t{kMercuryFlag}));
    if (section.info != 0) {
      Append(line, " of ", code ? SymbolName(section.info) : SectionName(section.info));
    }
    out_.push_back(line);
    if (relocations) return DescribeRelocations(section);
    if (!code) DescribeBytes(section);
  }

  void DescribeRelocations(const Section& section) {
    for (std::uint64_t at = 0; at < section.size; at += 24) {
      out_.push_back(Cat("  ", Hex(NumberAt<std::uint64_t>(section.data, at)), " type ",
                         Hex(NumberAt<std::uint32_t>(section.data, at + 8)), " ",
                         SymbolName(NumberAt<std::uint32_t>(section.data, at + 12)), " + ",
                         NumberAt<std::int64_t>(section.data, at + 16)));
    }
  }

  void DescribeBytes(const Section& section) {
    constexpr std::size_t kLine = 32;
    for (std::size_t at = 0; at < section.data.size(); at += kLine) {
      std::string line = Cat("  ", Hex(at, 4), ":");
      for (std::size_t i = at; i < std::min(at + kLine, section.data.size()); ++i) {
        Append(line, i % 4 == 0 ? " " : "", Hex(section.data[i], 2));
      }
      out_.push_back(line);
    }
  }

  void DescribeSymbol(std::size_t index) {
    const Symbol& symbol = symbols_[index];
    out_.push_back(Cat("symbol ", index, " ", symbol.name, " at ", symbol.name_offset, " bind ",
                       symbol.info >> 4, " type ", symbol.info & 15, " other ", Hex(symbol.other),
                       " in ", SectionName(symbol.section), " value ", Hex(symbol.value), " size ",
                       symbol.size));
  }

  std::span<const std::uint8_t> file_;
  bool linked_;
  bool capsule_sizes_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> DescribeLinkedMercury(std::span<const std::uint8_t> cubin,
                                               bool capsule_sizes) {
  return Describer(cubin, true, capsule_sizes).Run();
}

std::vector<std::string> DescribeMergedMercury(std::span<const std::uint8_t> cubin,
                                               bool capsule_sizes) {
  return Describer(cubin, false, capsule_sizes).Run();
}

}  // namespace devlink::testing
