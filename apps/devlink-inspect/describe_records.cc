// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/describe_records.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bounded_reader.h"
#include "base/strings.h"
#include "devlink-diff/cubin_names.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::inspect {

namespace {

using diff::CubinView;
using diff::ViewSection;
using diff::ViewSymbol;

// Whether a section holds that in the Mercury view, whose sections have types of their own.
bool IsMercury(const ViewSection& section, format::SectionRole role) {
  const auto words = format::MercuryWordsOf(role);
  return words && section.type == words->type;
}

const std::vector<ViewSymbol>& SymbolsOf(const CubinView& view, const ViewSection& section) {
  const bool is_mercury = section.link < view.sections.size() &&
                          view.sections[section.link].type == format::kShtMercurySymbols;
  return is_mercury ? view.mercury_symbols : view.symbols;
}

// Symbols of sections have the name of what they stand for.
std::string_view NameAt(const CubinView& view, const std::vector<ViewSymbol>& symbols,
                        std::uint64_t index) {
  if (index >= symbols.size()) return index == 0 ? "" : "?";
  const ViewSymbol& symbol = symbols[index];
  const bool is_section = (symbol.info & 15) == format::kSttSection && symbol.name.empty();
  if (!is_section) return symbol.name;
  return symbol.section < view.sections.size()
             ? std::string_view(view.sections[symbol.section].name)
             : "?";
}

// A prototype or the name of a function, which stand in `.strtab`.
std::string_view StringAt(const CubinView& view, std::uint64_t offset) {
  const ViewSection* strings = view.Find(format::section_name::kStrings);
  if (strings == nullptr) return "?";
  constexpr std::size_t kLongest = 4096;
  return base::BoundedReader(strings->data).CString(offset).value_or("?").substr(0, kLongest);
}

std::string HexOf(base::Bytes bytes) {
  std::string out;
  for (const std::uint8_t b : bytes) absl::StrAppend(&out, absl::Hex(b, absl::kZeroPad2));
  return out;
}

bool IsInfo(const ViewSection& section) {
  return section.type == format::kShtCudaInfo ||
         IsMercury(section, format::SectionRole::kFunctionInfo);
}

// One record: its number where it is one; of a sized one the symbols that it names, the other
// words, and what is left.
struct RecordCells {
  Cell value;
  std::vector<std::string_view> symbols;
  std::vector<std::uint64_t> words;
  base::Bytes rest;
};

RecordCells Decode(const CubinView& view, const std::vector<ViewSymbol>& symbols,
                   const format::InfoRecord& record, bool names_symbols) {
  RecordCells out;
  if (record.format != format::kInfoSized) {
    if (record.format != format::kInfoNoValue) out.value = std::uint64_t{record.value};
    return out;
  }
  const base::BoundedReader payload(record.payload);
  const std::uint64_t named = names_symbols ? format::SymbolsOf(record).count : 0;
  std::uint64_t at = 0;
  for (std::uint32_t word = 0; payload.Read(at, word); at += 4) {
    if (at / 4 < named) {
      out.symbols.push_back(NameAt(view, symbols, word));
    } else {
      out.words.push_back(word);
    }
  }
  out.rest = record.payload.subspan(at);
  return out;
}

// For a text: all of it in one.
std::string Means(const RecordCells& record, const Cell& symbols) {
  std::string out;
  if (const auto* value = std::get_if<std::uint64_t>(&record.value)) {
    absl::StrAppend(&out, "0x", absl::Hex(*value));
  }
  const bool has_symbols =
      std::holds_alternative<std::vector<std::string_view>>(symbols) && !record.symbols.empty();
  for (const std::uint64_t word : record.words) {
    absl::StrAppend(&out, out.empty() ? "" : " ", "0x", absl::Hex(word));
  }
  if (!record.rest.empty()) absl::StrAppend(&out, out.empty() ? "" : " ", "| ", HexOf(record.rest));
  return out.empty() && !has_symbols ? "-" : out;
}

}  // namespace

void DescribeRelocations(const CubinView& view, Report& report) {
  constexpr std::array kColumns = {Column{.key = "section", .title = "", .group = true},
                                   Column{"section_index", "", Shown::kInJson},
                                   Column{"offset", "offset", Shown::kEverywhere, true},
                                   Column{"type", "type"},
                                   Column{"type_number", "", Shown::kInJson},
                                   Column{"addend", "addend"},
                                   Column{"symbol_index", "", Shown::kInJson},
                                   Column{"symbol", "symbol"}};
  report.BeginTable({.key = "relocations", .title = "relocations", .columns = kColumns});
  for (std::size_t i = 0; i < view.sections.size(); ++i) {
    const ViewSection& section = view.sections[i];
    const bool has_addend =
        section.type == format::kShtRela || IsMercury(section, format::SectionRole::kRelocations);
    if (!has_addend && section.type != format::kShtRel) continue;
    const std::uint64_t step = format::SizeOfRelocation(has_addend);
    const base::BoundedReader reader(section.data);
    const auto& symbols = SymbolsOf(view, section);
    for (std::uint64_t at = 0; at + step <= section.data.size(); at += step) {
      format::Rela r = {};
      r.offset = reader.ReadOrZero<std::uint64_t>(at);
      r.type = reader.ReadOrZero<std::uint32_t>(at + 8);
      r.symbol = reader.ReadOrZero<std::uint32_t>(at + 12);
      if (has_addend) r.addend = reader.ReadOrZero<std::int64_t>(at + 16);
      AddRow(report, kColumns, section.name, std::uint64_t{i}, r.offset,
             diff::RelocationName(r.type), std::uint64_t{r.type},
             has_addend ? Cell{r.addend} : Cell{}, std::uint64_t{r.symbol},
             MangledName{NameAt(view, symbols, r.symbol)});
    }
    if (section.data.size() % step != 0) {
      report.Problem(absl::StrCat("section ", i, " ends within a relocation"));
    }
  }
  report.EndTable();
}

void DescribeAttributes(const CubinView& view, Report& report) {
  constexpr std::array kColumns = {Column{.key = "section", .title = "", .group = true},
                                   Column{"section_index", "", Shown::kInJson},
                                   Column{"attribute", "attribute"},
                                   Column{"id", "", Shown::kInJson},
                                   Column{"format", "", Shown::kInJson},
                                   Column{"value", "", Shown::kInJson},
                                   Column{"words", "", Shown::kInJson},
                                   Column{"bytes", "", Shown::kInJson},
                                   Column{"means", "value", Shown::kInText},
                                   Column{"symbols", "symbols"}};
  report.BeginTable({.key = "attributes", .title = "attributes", .columns = kColumns});
  for (std::size_t i = 0; i < view.sections.size(); ++i) {
    const ViewSection& section = view.sections[i];
    if (!IsInfo(section)) continue;
    const auto& symbols = SymbolsOf(view, section);
    format::InfoReader reader(section.data);
    for (format::InfoRecord record; reader.Next(record);) {
      const RecordCells cells = Decode(view, symbols, record, true);
      const Cell names = cells.symbols;
      AddRow(report, kColumns, section.name, std::uint64_t{i}, diff::AttributeName(record.id),
             std::uint64_t{record.id}, std::uint64_t{record.format}, cells.value, cells.words,
             cells.rest.empty() ? Cell{} : Cell{HexOf(cells.rest)}, Means(cells, names), names);
    }
    if (!reader.well_formed()) {
      report.Problem(absl::StrCat("section ", i, " has something else than attributes in it"));
    }
  }
  report.EndTable();
}

void DescribeCompatibility(const CubinView& view, Report& report) {
  const ViewSection* section = view.Find(format::section_name::kCompat);
  if (section == nullptr) return;
  constexpr std::array kColumns = {
      Column{"tag", "tag", Shown::kEverywhere, true}, Column{"format", "", Shown::kInJson},
      Column{"value", "", Shown::kInJson}, Column{"bytes", "", Shown::kInJson},
      Column{"means", "value", Shown::kInText}};
  report.BeginTable({.key = "compatibility", .title = "compatibility", .columns = kColumns});
  format::InfoReader reader(section->data);
  for (format::InfoRecord record; reader.Next(record);) {
    const RecordCells cells = Decode(view, view.symbols, record, false);
    AddRow(report, kColumns, std::uint64_t{record.id}, std::uint64_t{record.format}, cells.value,
           record.payload.empty() ? Cell{} : Cell{HexOf(record.payload)}, Means(cells, {}));
  }
  if (!reader.well_formed()) report.Problem("the compatibility record cannot be read");
  report.EndTable();
}

void DescribeCallGraph(const CubinView& view, Report& report) {
  constexpr std::array kColumns = {Column{.key = "list", .title = "", .group = true},
                                   Column{"from", "function"}, Column{"to", "callee or prototype"}};
  report.BeginTable({.key = "call_graph", .title = "call graph", .columns = kColumns});
  const auto list_name = [](format::CallGraphList list) -> std::string {
    switch (list) {
      case format::CallGraphList::kCalls:
        return "calls";
      case format::CallGraphList::kAddressesTaken:
        return "address taken";
      case format::CallGraphList::kIndirectCallers:
        return "indirect calls";
      case format::CallGraphList::kAddressTakers:
        return "takes address";
      case format::CallGraphList::kNone:
        break;
    }
    return absl::StrCat("list ", static_cast<std::uint32_t>(list));
  };
  if (const ViewSection* section = view.Find(format::section_name::kCallGraph);
      section != nullptr) {
    format::CallGraphReader reader(section->data);
    for (format::CallGraphPair pair; reader.Next(pair);) {
      const Cell to = format::HoldsSymbolPairs(pair.list)
                          ? Cell{MangledName{NameAt(view, view.symbols, pair.second)}}
                          : Cell{std::string(StringAt(view, pair.second))};
      AddRow(report, kColumns, list_name(pair.list),
             MangledName{NameAt(view, view.symbols, pair.first)}, to);
    }
  }
  if (const ViewSection* section = view.Find(format::section_name::kPrototypes);
      section != nullptr) {
    const base::BoundedReader reader(section->data);
    std::uint32_t function = 0;
    std::uint32_t text = 0;
    for (std::uint64_t at = 0; reader.Read(at, function) && reader.Read(at + 4, text); at += 8) {
      AddRow(report, kColumns, "prototype", MangledName{NameAt(view, view.symbols, function)},
             std::string(StringAt(view, text)));
    }
  }
  report.EndTable();
}

}  // namespace devlink::inspect
