// SPDX-License-Identifier: Apache-2.0
//
// Where everything that was added to a CubinWriter lies in the file.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/align.h"
#include "base/guard.h"
#include "base/release.h"
#include "base/status_macros.h"
#include "format/sections.h"
#include "format/views.h"
#include "write/cubin_state.h"
#include "write/elf_layout.h"

namespace devlink {

using base::AlignUp;
using format::Phdr;
using internal::Content;
using internal::Index;
using internal::LateName;
using internal::SectionState;
using internal::SymbolTableState;

absl::StatusOr<std::uint64_t> CubinWriter::LayOut() {
  return base::Guard([&]() -> absl::StatusOr<std::uint64_t> {
    if (state_->file_size == 0) {
      DEVLINK_RETURN_IF_ERROR(state_->Check());
      state_->Order();
      DEVLINK_RETURN_IF_ERROR(state_->SettleRanges());
      state_->LayOut();
    }
    return state_->file_size;
  });
}

// Gives sections and symbols their indices, and names their places.
void CubinWriter::State::Order() {
  CompleteSections();
  OrderSections();
  for (SymbolTableState& table : symbol_tables) OrderSymbols(table);
  EnterLateNames();
  ResolveWords();
  LinkPatches();
  for (SectionState& section : sections) {
    if (section.content == Content::kStrings) section.size = strings[section.table].Finish();
    if (section.content == Content::kSymbols) {
      section.size = (symbol_tables[section.table].symbols.size() + 1) * sizeof(format::Sym);
    }
    if (section.content == Content::kWideIndices) {
      section.size = (TableOf(section)->symbols.size() + 1) * sizeof(std::uint32_t);
    }
  }
}

void CubinWriter::State::OrderSections() {
  // There are a dozen categories: each begins where those before it end.
  std::array<std::uint32_t, std::numeric_limits<std::uint8_t>::max() + 2> next = {};
  std::uint8_t last = 0;
  for (const SectionState& section : sections) {
    ++next[section.category + 1];
    last = std::max(last, section.category);
  }
  std::partial_sum(next.begin(), next.begin() + last + 1, next.begin());
  section_order.resize(sections.size());
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    const std::uint32_t place = next[sections[i].category]++;
    section_order[place] = SectionHandle{i};
    sections[i].index = place + 1;
  }
}

void CubinWriter::State::OrderSymbols(SymbolTableState& table) {
  const auto number = static_cast<std::uint8_t>(&table - symbol_tables.data());
  table.symbols.clear();
  if (symbol_tables.size() == 1) table.symbols.reserve(symbols.size());
  std::uint32_t next = 1;
  const auto take = [&](std::uint32_t i) {
    symbols[i].index = next++;
    if (!symbols[i].in_global_part) table.info = next;
    table.symbols.push_back(SymbolHandle{i});
  };
  const bool as_added = table.order == SymbolOrder::kAsAdded;
  for (const bool global : {false, true}) {
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i].table != number) continue;
      if (as_added ? !global : symbols[i].in_global_part == global) take(i);
    }
  }
}

void CubinWriter::State::EnterLateNames() {
  for (const LateName& name : late_names) {
    const std::size_t table =
        name.symbol == kNoSymbol ? 0 : std::size_t{symbols[Index(name.symbol)].table};
    const std::string_view text(name.begin, name.size);
    internal::StringTable& names = strings[symbol_tables[table].strings];
    const internal::NameId id =
        name.anew != 0 ? names.AddAnew(text, internal::StringTable::HashOf(text)) : names.Add(text);
    if (name.symbol != kNoSymbol) symbols[Index(name.symbol)].name_id = id;
  }
  base::Release(late_names);
}

void CubinWriter::State::ResolveWords() {
  ForEachSymbolWord([this](std::size_t at) {
    const std::uint32_t symbol = OwnWord(at);
    SetOwnWord(at, symbol == Index(kNullSymbol) ? 0 : symbols[symbol].index);
  });
  base::Release(symbol_words);
  for (const std::uint32_t at : section_words) SetOwnWord(at, sections[OwnWord(at)].index);
  base::Release(section_words);
}

void CubinWriter::State::LinkPatches() {
  // From the last run to the first, so that each section's come out in the order of addition.
  for (std::size_t i = patch_runs.size(); i-- > 0;) {
    SectionState& section = At(patch_runs[i].section);
    patch_runs[i].next = section.first_patches;
    section.first_patches = static_cast<std::uint32_t>(i);
  }
}

// What can only be checked once sections have their order and tables their size.
absl::Status CubinWriter::State::SettleRanges() {
  for (SectionState& section : sections) {
    if (section.content != Content::kShared) continue;
    const std::uint64_t available = At(section.owner()).file_size();
    if (section.size == internal::kWholeOwner) section.size = available;
    if (section.size > available) {
      return absl::InvalidArgumentError("a section shares more bytes than there are");
    }
  }
  for (const SegmentSpec& spec : segment_specs) {
    if (spec.first == kNoSection) continue;
    const SectionState& first = At(spec.first);
    const SectionState& last = At(spec.last);
    if (first.index > last.index || first.content == Content::kShared ||
        last.content == Content::kShared) {
      return absl::InvalidArgumentError("a segment begins or ends with no bytes of its own");
    }
  }
  return absl::OkStatus();
}

// Header, sections, section headers, program headers.
void CubinWriter::State::LayOut() {
  internal::ElfLayout layout;
  for (const SectionHandle handle : section_order) {
    SectionState& section = At(handle);
    if (section.content == Content::kShared) continue;
    const auto gap = gaps.empty() ? gaps.end() : gaps.find(handle);
    section.file_offset =
        layout.Place(section.file_size(), section.align(), gap == gaps.end() ? 0 : gap->second);
  }
  for (SectionState& section : sections) {
    if (section.content == Content::kShared) section.file_offset = At(section.owner()).file_offset;
  }
  std::vector<SegmentSpec> specs = segment_specs;
  if (specs.empty() && header.executable) specs = UsualSegments();
  const internal::ElfTablePlaces tables = layout.PlaceTables(section_count(), specs.size());
  section_headers = tables.section_headers;
  program_headers = tables.program_headers;
  file_size = tables.file_size;
  segments.clear();
  segments.reserve(specs.size());
  for (const SegmentSpec& spec : specs) segments.push_back(SegmentOf(spec, specs.size()));
}

// Of a file with two views: the program headers themselves, twice; constants, code, data,
// parameters.
std::vector<SegmentSpec> CubinWriter::State::SegmentsOfTwoViews() const {
  std::array<SegmentSpec, 4> loaded = {
      SegmentSpec{.type = format::kPtLoad, .flags = format::kPfR},
      SegmentSpec{.type = format::kPtLoad, .flags = format::kPfRX},
      SegmentSpec{.type = format::kPtLoad, .flags = format::kPfRW},
      SegmentSpec{.type = format::kPtLoad, .flags = format::kPfR},
  };
  auto& [constants, code, data, parameters] = loaded;
  for (const SectionHandle handle : section_order) {
    const SectionState& section = sections[Index(handle)];
    if ((section.flags & format::kShfAlloc) == 0 || format::IsMercurySection(section.flags)) {
      continue;
    }
    const bool is_parameters = NameOf(section).starts_with(format::section_name::kParameters);
    SegmentSpec& segment = (section.flags & format::kShfExec) != 0    ? code
                           : (section.flags & format::kShfWrite) != 0 ? data
                           : is_parameters                            ? parameters
                                                                      : constants;
    if (segment.first == kNoSection) segment.first = handle;
    segment.last = handle;
  }
  std::vector<SegmentSpec> out = {{.type = format::kPtPhdr, .flags = format::kPfR},
                                  {.type = format::kPtLoad, .flags = format::kPfR}};
  std::copy_if(loaded.begin(), loaded.end(), std::back_inserter(out),
               [](const SegmentSpec& segment) { return segment.first != kNoSection; });
  return out;
}

// The program headers themselves, read-only sections, writable sections, the headers again.
std::vector<SegmentSpec> CubinWriter::State::UsualSegments() const {
  if (has_two_views) return SegmentsOfTwoViews();
  SegmentSpec constants{.type = format::kPtLoad, .flags = format::kPfRX};
  SegmentSpec data{.type = format::kPtLoad, .flags = format::kPfRW};
  bool has_nobits = false;
  for (const SectionHandle handle : section_order) {
    const SectionState& section = sections[Index(handle)];
    if ((section.flags & format::kShfAlloc) == 0) continue;
    if ((section.flags & format::kShfWrite) == 0) {
      if (constants.first == kNoSection) constants.first = handle;
      constants.last = handle;
      continue;
    }
    if (data.first == kNoSection) data.first = handle;
    // What follows the last section without bytes is not covered.
    const bool nobits = section.type == format::kShtNobits;
    if (nobits || !has_nobits) data.last = handle;
    has_nobits = has_nobits || nobits;
  }
  std::vector<SegmentSpec> out;
  out.reserve(4);
  out.push_back({.type = format::kPtPhdr, .flags = format::kPfRX});
  if (constants.first != kNoSection) out.push_back(constants);
  if (data.first != kNoSection) out.push_back(data);
  out.push_back({.type = format::kPtLoad, .flags = format::kPfRX});
  return out;
}

Phdr CubinWriter::State::SegmentOf(const SegmentSpec& spec, std::size_t count) const {
  Phdr out = {};
  out.type = spec.type;
  out.flags = spec.flags;
  out.align = spec.align;
  if (spec.first == kNoSection) {
    out.offset = program_headers;
    out.filesz = out.memsz = count * sizeof(Phdr);
    return out;
  }
  const SectionState& first = sections[Index(spec.first)];
  const SectionState& last = sections[Index(spec.last)];
  out.offset = first.file_offset;
  if (last.type != format::kShtNobits) {
    out.filesz = out.memsz = last.file_offset + last.size - out.offset;
    return out;
  }
  out.filesz = last.file_offset - out.offset;
  std::uint64_t zeroed = 0;  // memory behind the file's bytes
  for (std::uint32_t i = first.index; i <= last.index; ++i) {
    const SectionState& section = sections[Index(section_order[i - 1])];
    if (section.type != format::kShtNobits) continue;
    zeroed = AlignUp(zeroed, section.align()) + section.size;
  }
  out.memsz = out.filesz + zeroed;
  return out;
}

}  // namespace devlink
