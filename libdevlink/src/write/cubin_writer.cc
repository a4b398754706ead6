// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/cubin_writer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/sections.h"
#include "format/views.h"
#include "write/cubin_state.h"
#include "write/residue_writer.h"

namespace devlink {

using base::AlignUp;
using internal::Content;
using internal::Index;
using internal::kBadAlign;
using internal::kMaxFile;
using internal::kMaxRun;
using internal::kMaxTables;
using internal::kNoRun;
using internal::Run;
using internal::SectionState;
using internal::SymbolState;
using internal::SymbolWords;

namespace {

static_assert(kKernelSymbol == format::kStoEntry);

// The first word of a record of a `.nv.info` section.
struct AttributeHead {
  std::uint8_t format;
  std::uint8_t id;
  std::uint16_t value;
};
static_assert(sizeof(AttributeHead) == 4 && sizeof(SymbolHandle) == 4);

}  // namespace

SectionState& CubinWriter::State::NoSection() {
  Report("a section was named that was never added");
  unknown_section = SectionState();
  return unknown_section;
}

SectionState& CubinWriter::State::NotToFill() {
  Report("bytes were added to a table, or to a section that shares another's");
  unknown_section = SectionState();
  return unknown_section;
}

std::uint8_t CubinWriter::State::TableAt(SectionHandle handle, Content content) {
  const SectionState& section = At(handle);
  if (section.content == content) return section.table;
  Report(content == Content::kStrings ? "a section was named as a string table that is not one"
                                      : "a section was named as a symbol table that is not one");
  return 0;
}

void CubinWriter::State::AddRun(SectionState& section, Run run) {
  const auto number = static_cast<std::uint32_t>(runs.size());
  (section.last_run == kNoRun ? section.first_run : runs[section.last_run].next) = number;
  section.last_run = number;
  section.size += run.size;
  runs.push_back(run);
}

void CubinWriter::State::AppendBorrowed(SectionHandle handle, std::span<const std::uint8_t> bytes) {
  SectionState& section = ToFill(handle);
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(bytes.size(), kMaxRun);
    Run run{.borrowed = bytes.data(), .offset = section.size};
    run.size = static_cast<std::uint32_t>(size);
    run.is_own = 0;
    AddRun(section, run);
    bytes = bytes.subspan(size);
  }
}

void CubinWriter::State::AddOwnRuns(SectionState& section, std::uint64_t from) {
  while (from != own.size()) {
    Run run{.own_offset = from, .offset = section.size};
    run.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(own.size() - from, kMaxRun));
    run.is_own = 1;
    AddRun(section, run);
    from += run.size;
  }
}

// The word at `at` of the own store holds a symbol's number.
void CubinWriter::State::MarkSymbolWord(std::size_t at) {
  const auto offset = static_cast<std::uint32_t>(at);
  if (!symbol_words.empty()) {
    SymbolWords& last = symbol_words.back();
    const std::uint32_t end = last.first + (last.count - 1) * last.distance;
    if (last.count == 1) last.distance = offset - end;
    if (offset - end == last.distance) {
      ++last.count;
      return;
    }
  }
  symbol_words.push_back({.first = offset});
}

void CubinWriter::State::AddLateName(std::string_view name, SymbolHandle symbol, bool anew) {
  late_names.push_back({.begin = name.data(),
                        .size = static_cast<std::uint32_t>(name.size()),
                        .anew = anew ? 1U : 0U,
                        .symbol = symbol});
}

void CubinWriter::State::CompleteSections() {
  if (sections_complete) return;
  header.wide_section_indices =
      header.wide_section_indices || section_count() >= format::kShnLoReserve;
  const bool is_there = std::any_of(sections.begin(), sections.end(), [](const auto& section) {
    return section.content == Content::kWideIndices && section.link == kSymbolTable;
  });
  if (header.wide_section_indices && !is_there) {
    AddWideIndices({.name = format::section_name::kWideIndices,
                    .link = kSymbolTable,
                    .only_section_name = true},
                   true);
  }
  sections_complete = true;
  section_names().Complete();
}

const internal::SymbolTableState* CubinWriter::State::TableOf(
    const SectionState& wide_indices) const {
  if (!IsKnown(wide_indices.link)) return nullptr;
  const SectionState& linked = sections[Index(wide_indices.link)];
  return linked.content == Content::kSymbols ? &symbol_tables[linked.table] : nullptr;
}

SectionHandle CubinWriter::State::AddWideIndices(SectionSpec spec, bool leads) {
  spec.type = format::kShtSymtabShndx;
  spec.align = sizeof(std::uint32_t);
  spec.entry_size = sizeof(std::uint32_t);
  const SectionHandle handle = AddSection(spec, Content::kWideIndices);
  SectionState& section = At(handle);
  if (leads) {
    const bool mercury = format::IsMercurySection(section.flags);
    section.category = mercury ? format::kCapsuleCategory + 1 : 0;
  }
  return handle;
}

internal::NameId CubinWriter::State::NameOfHandle(const internal::StringTable& table,
                                                  NameHandle name) {
  const auto id = static_cast<internal::NameId>(name);
  if (id < table.count()) return id;
  Report("a name is not in the string table");
  return table.count() == 0 ? internal::kNameless : 0;
}

SectionHandle CubinWriter::State::AddSection(const SectionSpec& spec, Content content) {
  const auto handle = static_cast<SectionHandle>(sections.size());
  SectionState& section = sections.emplace_back();
  section.type = spec.type;
  section.flags = static_cast<std::uint32_t>(spec.flags);
  section.entry_size = static_cast<std::uint8_t>(spec.entry_size);
  const bool usable = base::IsPowerOfTwo(spec.align) && spec.align <= kMaxFile &&
                      spec.flags == section.flags && spec.entry_size == section.entry_size;
  section.align_bits = usable ? static_cast<std::uint8_t>(std::countr_zero(spec.align)) : kBadAlign;
  section.size = spec.nobits_size;
  section.link = spec.link;
  section.content = content;
  if (header.section_order == SectionOrder::kByCategory) {
    section.category = static_cast<std::uint8_t>(
        has_two_views ? format::SectionCategoryOfTwoViews(spec.name, spec.type, section.flags)
                      : format::SectionCategory(spec.name, spec.type, spec.flags));
  }
  // Those that every file has come first.
  const bool leads = Index(handle) <= Index(kSymbolTable);
  section.category = leads ? std::uint8_t{0} : static_cast<std::uint8_t>(section.category + 1);
  if (sections_complete) Report("a section was added after the sections were complete");
  const bool enters_strings = !format::IsMercurySection(section.flags) && !spec.only_section_name;
  const bool is_entered = spec.entered_name != kNoName;
  // Names lie anywhere in the inputs: to hash one costs more than all of the above.
  const std::uint32_t hash =
      is_entered && !enters_strings ? 0 : internal::StringTable::HashOf(spec.name);
  if (is_entered) {
    section.name_id = NameOfHandle(section_names(), spec.entered_name);
  } else {
    section.name_id = spec.own_name ? section_names().AddAnew(spec.name, hash)
                                    : section_names().Add(spec.name, hash);
  }
  if (enters_strings) strings[1].Add(spec.name, hash);
  return handle;
}

void CubinWriter::State::AddStringTable(const SectionSpec& spec) {
  if (strings.size() == kMaxTables) return Report("there are too many string tables");
  const auto table = static_cast<std::uint8_t>(strings.size());
  strings.emplace_back();
  At(AddSection(spec, Content::kStrings)).table = table;
}

CubinWriter::CubinWriter(CubinHeader header, const CubinSizes& expected)
    : state_(std::make_unique<State>()) {
  state_->header = header;
  state_->has_two_views = format::HasTwoViews(header.sm);
  state_->strings.resize(2);
  state_->Reserve(expected);
  // The first two name themselves.
  for (std::uint8_t table = 0; table < 2; ++table) {
    const SectionHandle handle = state_->AddSection(
        {.name = table == 0 ? format::section_name::kNames : format::section_name::kStrings,
         .type = format::kShtStrtab},
        Content::kStrings);
    state_->At(handle).table = table;
  }
  AddSymbolTable({.name = format::section_name::kSymbols,
                  .type = format::kShtSymtab,
                  .align = 8,
                  .entry_size = sizeof(format::Sym),
                  .link = kStringTable});
}
CubinWriter::~CubinWriter() = default;
CubinWriter::CubinWriter(CubinWriter&&) noexcept = default;
CubinWriter& CubinWriter::operator=(CubinWriter&&) noexcept = default;

void CubinWriter::State::Reserve(const CubinSizes& expected) {
  constexpr std::size_t kOwn = 3;  // sections that every file has
  const std::size_t all_sections = expected.sections + kOwn;
  own.Reserve(expected.copied_bytes);
  runs.reserve(all_sections);
  sections.reserve(all_sections);
  symbols.reserve(expected.symbols);
  patches.reserve(expected.patches);
  constexpr std::size_t kFew = 32;  // of what there may be none, or thousands
  symbol_words.reserve(kFew);
  late_names.reserve(std::min(expected.symbols, kFew));
  strings[0].Reserve(all_sections);
  strings[1].Reserve(all_sections + expected.symbols);
}

SectionHandle CubinWriter::AddSection(const SectionSpec& spec) {
  return state_->AddSection(spec, Content::kRuns);
}

SectionHandle CubinWriter::AddStringTable(const SectionSpec& spec) {
  const auto handle = static_cast<SectionHandle>(state_->sections.size());
  state_->AddStringTable(spec);
  return handle;
}

SectionHandle CubinWriter::AddSymbolTable(const SectionSpec& spec, SymbolOrder order) {
  const SectionHandle handle = state_->AddSection(spec, Content::kSymbols);
  SectionState& section = state_->At(handle);
  if (section.link == kNoSection) section.link = kStringTable;
  if (state_->symbol_tables.size() == kMaxTables) {
    state_->Report("there are too many symbol tables");
    return handle;
  }
  section.table = static_cast<std::uint8_t>(state_->symbol_tables.size());
  internal::SymbolTableState& table = state_->symbol_tables.emplace_back();
  table.section = handle;
  table.strings = state_->TableAt(section.link, Content::kStrings);
  table.order = order;
  return handle;
}

SectionHandle CubinWriter::AddWideIndices(const SectionSpec& spec, bool leads) {
  return state_->AddWideIndices(spec, leads);
}

void CubinWriter::SetSymbolOrder(SectionHandle symbol_table, SymbolOrder order) {
  state_->symbol_tables[state_->TableAt(symbol_table, Content::kSymbols)].order = order;
}

SymbolHandle CubinWriter::AddSymbol(const SymbolSpec& spec) {
  const auto handle = static_cast<SymbolHandle>(state_->symbols.size());
  SymbolState& symbol = state_->symbols.emplace_back();
  const bool is_entered = spec.entered_name != kNoName;
  const std::string_view name = spec.name.empty() && spec.section != kNoSection && !is_entered
                                    ? state_->NameOf(state_->At(spec.section))
                                    : spec.name;
  symbol.value = spec.value;
  symbol.size = spec.size;
  symbol.section = spec.section;
  symbol.info = static_cast<std::uint8_t>(spec.binding << 4 | spec.type);
  symbol.other = spec.other;
  symbol.table = state_->TableAt(spec.table, Content::kSymbols);
  symbol.in_global_part = spec.part == SymbolPart::kByBinding ? spec.binding == format::kStbGlobal
                                                              : spec.part == SymbolPart::kGlobal;
  internal::StringTable& strings = state_->strings[state_->symbol_tables[symbol.table].strings];
  if (is_entered) {
    symbol.name_id = state_->NameOfHandle(strings, spec.entered_name);
  } else if (name.empty()) {
    symbol.name_id = internal::kNameless;
  } else if (symbol.in_global_part || spec.name_comes_late) {
    state_->AddLateName(name, handle);
  } else {
    symbol.name_id = strings.Add(name);
  }
  return handle;
}

NameHandle CubinWriter::AddName(SectionHandle string_table, std::string_view name,
                                NamePlacement placement) {
  if (string_table == kSectionNameTable && state_->sections_complete) {
    state_->Report("a section's name was added after the sections were complete");
    return kNoName;
  }
  internal::StringTable& table = state_->strings[state_->TableAt(string_table, Content::kStrings)];
  const std::uint32_t hash = internal::StringTable::HashOf(name);
  const internal::NameId id = placement.shared ? table.Add(name, hash) : table.AddAnew(name, hash);
  if (placement.padding != 0) table.Pad(id, placement.padding);
  return NameHandle{id};
}

void CubinWriter::SetPrototypes(std::string_view prototypes) {
  state_->strings[1].SetHead(prototypes);
}

void CubinWriter::SetInfoSection(SectionHandle section, SectionHandle info) {
  state_->At(section).info = Index(info);
  state_->At(section).info_is_symbol = false;
}
void CubinWriter::SetInfoSymbol(SectionHandle section, SymbolHandle info, std::uint8_t registers) {
  SectionState& state = state_->At(section);
  state.info = Index(info);
  state.info_is_symbol = true;
  state.registers = registers;
}
void CubinWriter::SetLinkSection(SectionHandle section, SectionHandle link) {
  state_->At(section).link = link;
}

void CubinWriter::ShareBytes(SectionHandle section, SectionHandle owner,
                             std::optional<std::uint64_t> size) {
  SectionState& state = state_->At(section);
  if (state.content != Content::kRuns || state.size != 0) {
    return state_->Report("a section that shares bytes has bytes of its own");
  }
  state.content = Content::kShared;
  state.first_run = Index(owner);
  state.size = size.value_or(internal::kWholeOwner);
}

void CubinWriter::SetGap(SectionHandle section, std::uint64_t bytes) {
  if (bytes > kMaxFile) return state_->Report("a gap is larger than any file");
  state_->gaps[section] = bytes;
}

void CubinWriter::Append(SectionHandle section, std::span<const std::uint8_t> bytes) {
  state_->AppendBorrowed(section, bytes);
}

void CubinWriter::AppendAligned(SectionHandle section, std::span<const std::uint8_t> bytes,
                                std::uint64_t align) {
  const std::uint64_t size = SizeOf(section);
  AppendZeros(section, AlignUp(size, align) - size);
  Append(section, bytes);
}

void CubinWriter::AppendZeros(SectionHandle section, std::uint64_t count) {
  state_->ToFill(section).size += count;
}
void CubinWriter::AppendWord(SectionHandle section, std::uint32_t word) {
  std::memcpy(state_->ExtendOwn(section, sizeof(word)), &word, sizeof(word));
}
void CubinWriter::AppendCopy(SectionHandle section, std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return;
  std::memcpy(state_->ExtendOwn(section, bytes.size()), bytes.data(), bytes.size());
}
void CubinWriter::AppendSymbolIndex(SectionHandle section, SymbolHandle symbol) {
  state_->MarkSymbolWord(state_->own.size());
  AppendWord(section, Index(symbol));
}
void CubinWriter::AppendSectionIndex(SectionHandle section, SectionHandle other) {
  state_->section_words.push_back(static_cast<std::uint32_t>(state_->own.size()));
  AppendWord(section, Index(other));
}

void CubinWriter::AddRelocation(SectionHandle section, std::uint64_t offset, std::uint32_t type,
                                SymbolHandle symbol, std::int64_t addend) {
  const SectionState& list = state_->At(section);
  const bool with_addend = list.type != format::kShtRel;
  if (state_->symbol_tables.size() > 1 && Index(symbol) < state_->symbols.size() &&
      (list.link == kNoSection ||
       state_->TableAt(list.link, Content::kSymbols) != state_->symbols[Index(symbol)].table)) {
    state_->Report("a relocation's symbol stands in another table than its list links to");
  }
  const format::Rela entry{
      .offset = offset, .type = type, .symbol = Index(symbol), .addend = addend};
  state_->MarkSymbolWord(state_->own.size() + offsetof(format::Rela, symbol));
  const std::size_t size = format::SizeOfRelocation(with_addend);
  std::memcpy(state_->ExtendOwn(section, size), &entry, size);
}

void CubinWriter::AddAttribute(SectionHandle section, std::uint8_t format, std::uint8_t id,
                               std::uint16_t value, std::span<const std::uint8_t> payload) {
  const AttributeHead head{format, id, value};
  std::uint8_t* place = state_->ExtendOwn(section, sizeof(head) + payload.size());
  std::memcpy(place, &head, sizeof(head));
  if (!payload.empty()) std::memcpy(place + sizeof(head), payload.data(), payload.size());
}

void CubinWriter::AddSymbolAttribute(SectionHandle section, std::uint8_t id, SymbolHandle symbol,
                                     std::span<const std::uint8_t> rest) {
  const std::size_t size = sizeof(symbol) + rest.size();
  const AttributeHead head{format::kInfoSized, id, static_cast<std::uint16_t>(size)};
  state_->MarkSymbolWord(state_->own.size() + sizeof(head));
  std::uint8_t* place = state_->ExtendOwn(section, sizeof(head) + size);
  std::memcpy(place, &head, sizeof(head));
  std::memcpy(place + sizeof(head), &symbol, sizeof(symbol));
  if (!rest.empty()) std::memcpy(place + sizeof(head) + sizeof(symbol), rest.data(), rest.size());
}

void CubinWriter::Patch(SectionHandle section, std::uint64_t offset, BitField field,
                        std::uint64_t value) {
  std::vector<internal::PatchRun>& runs = state_->patch_runs;
  if (runs.empty() || runs.back().section != section) {
    runs.push_back({.first = state_->patches.size(), .section = section});
  }
  ++runs.back().count;
  state_->patches.push_back({offset, value, field});
}

std::uint64_t CubinWriter::SizeOf(SectionHandle section) const { return state_->At(section).size; }

void CubinWriter::AddSegment(const SegmentSpec& segment) {
  state_->segment_specs.push_back(segment);
}

namespace internal {

void ResidueWriter::AddLateSymbolName(std::string_view name) {
  state_.AddLateName(name, kNoSymbol);
}
void ResidueWriter::RenameLate(SymbolHandle symbol, std::string_view name, bool anew) {
  state_.AddLateName(name, symbol, anew);
}
void ResidueWriter::SetNullSymbolValue(std::uint64_t value) {
  for (auto& table : state_.symbol_tables) table.null_value = value;
}
void ResidueWriter::SetWideIndex(SectionHandle section, std::uint32_t number) {
  state_.At(section).wide_index = number;
}
void ResidueWriter::ClearWideIndices() {
  for (SectionState& section : state_.sections) section.wide_index = 0;
}
std::uint64_t ResidueWriter::SizeOfSectionNames() const { return state_.section_names().Size(); }
void ResidueWriter::CompleteSections() { state_.CompleteSections(); }

}  // namespace internal

}  // namespace devlink
