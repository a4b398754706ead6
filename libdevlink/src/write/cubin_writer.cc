// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/cubin_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/align.h"
#include "format/elf_cuda.h"
#include "write/cubin_state.h"

namespace devlink {

using base::AlignUp;
using internal::Index;
using internal::kBadAlign;
using internal::kMaxFile;
using internal::kMaxRun;
using internal::kNoRun;
using internal::Run;
using internal::SectionState;
using internal::SymbolState;
using internal::SymbolWords;

namespace {

// Position of a section in the file (docs/cubin-format.md, "Section order").
int CategoryOf(std::string_view name, std::uint32_t type) {
  if (name.starts_with(".debug") || name.starts_with(".nv_debug_")) return 1;
  switch (type) {
    case format::kShtNote:
      return 2;
    case format::kShtCudaInfo:
    case format::kShtCudaCompat:
      return 3;
    case format::kShtCudaCallGraph:
    case format::kShtCudaPrototype:
    case format::kShtCudaRelocInfo:
      return 4;
    case format::kShtRel:
    case format::kShtRela:
      return 5;
    default:
      break;
  }
  if (name.starts_with(".nv.constant")) return 6;
  if (name.starts_with(".text")) return 7;
  if (name == ".nv.global.init") return 8;
  return 9;
}

}  // namespace

SectionState& CubinWriter::State::At(SectionHandle handle) {
  if (Index(handle) < sections.size()) return sections[Index(handle)];
  bad_handle = true;
  stray = SectionState();
  return stray;
}

void CubinWriter::State::AddRun(SectionState& section, Run run) {
  const auto number = static_cast<std::uint32_t>(runs.size());
  (section.last_run == kNoRun ? section.first_run : runs[section.last_run].next) = number;
  section.last_run = number;
  section.size += run.size;
  runs.push_back(run);
}

void CubinWriter::State::AppendBorrowed(SectionHandle handle, std::span<const std::uint8_t> bytes) {
  SectionState& section = At(handle);
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(bytes.size(), kMaxRun);
    Run run{.borrowed = bytes.data(), .offset = section.size};
    run.size = static_cast<std::uint32_t>(size);
    run.is_own = 0;
    AddRun(section, run);
    bytes = bytes.subspan(size);
  }
}

void CubinWriter::State::AppendOwn(SectionHandle handle, const void* bytes, std::uint64_t size) {
  SectionState& section = At(handle);
  const auto* begin = static_cast<const std::uint8_t*>(bytes);
  own.insert(own.end(), begin, begin + size);
  while (size != 0) {
    const std::uint64_t from = own.size() - size;
    if (section.last_run != kNoRun) {
      Run& last = runs[section.last_run];
      if (last.is_own != 0 && last.own_offset + last.size == from &&
          last.offset + last.size == section.size && last.size + size <= kMaxRun) {
        last.size += static_cast<std::uint32_t>(size);
        section.size += size;
        return;
      }
    }
    Run run{.own_offset = from, .offset = section.size};
    run.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kMaxRun));
    run.is_own = 1;
    AddRun(section, run);
    size -= run.size;
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

void CubinWriter::State::AddLateName(std::string_view name, SymbolHandle symbol) {
  late_names.push_back({name.data(), static_cast<std::uint32_t>(name.size()), symbol});
}

void CubinWriter::State::CompleteSections() {
  if (std::exchange(sections_complete, true)) return;
  header.wide_section_indices =
      header.wide_section_indices || sections.size() + internal::kTables >= format::kShnLoReserve;
  if (header.wide_section_indices) wide_indices_name = section_names.Add(".symtab_shndx");
  section_names.Complete();
}

CubinWriter::CubinWriter(CubinHeader header) : state_(std::make_unique<State>()) {
  state_->header = header;
  for (std::string_view name : {".shstrtab", ".strtab", ".symtab"}) {
    AddSectionName(name);
    AddSymbolName(name);
  }
}
CubinWriter::~CubinWriter() = default;
CubinWriter::CubinWriter(CubinWriter&&) noexcept = default;
CubinWriter& CubinWriter::operator=(CubinWriter&&) noexcept = default;

void CubinWriter::Reserve(std::size_t sections, std::size_t symbols, std::size_t copied_bytes) {
  state_->own.reserve(copied_bytes);
  state_->runs.reserve(sections);
  state_->sections.reserve(sections);
  state_->symbols.reserve(symbols);
  state_->section_names.Reserve(sections);
  state_->symbol_names.Reserve(sections + symbols);
}

void CubinWriter::AddSectionName(std::string_view name) {
  state_->late_section = state_->late_section || state_->sections_complete;
  state_->section_names.Add(name);
}
void CubinWriter::AddSymbolName(std::string_view name) { state_->symbol_names.Add(name); }
void CubinWriter::AddLateSymbolName(std::string_view name) { state_->AddLateName(name, kNoSymbol); }
void CubinWriter::SetNullSymbolValue(std::uint64_t value) { state_->null_symbol_value = value; }
void CubinWriter::SetPrototypes(std::string_view prototypes) {
  state_->symbol_names.SetHead(prototypes);
}

SectionHandle CubinWriter::AddSection(const SectionSpec& spec) {
  const auto handle = static_cast<SectionHandle>(state_->sections.size());
  SectionState& section = state_->sections.emplace_back();
  section.type = spec.type;
  section.number = spec.number;
  section.flags = static_cast<std::uint32_t>(spec.flags);
  const bool usable =
      base::IsPowerOfTwo(spec.align) && spec.align <= kMaxFile && spec.flags == section.flags;
  section.align_bits = usable ? static_cast<std::uint8_t>(std::countr_zero(spec.align)) : kBadAlign;
  section.entry_size = static_cast<std::uint8_t>(spec.entry_size);
  section.size = spec.nobits_size;
  section.links_to_symtab = spec.links_to_symtab;
  section.category = static_cast<std::uint8_t>(CategoryOf(spec.name, spec.type));
  state_->late_section = state_->late_section || state_->sections_complete;
  section.name_id = state_->section_names.Add(spec.name);
  if (spec.name_in_string_table) AddSymbolName(spec.name);
  return handle;
}

SymbolHandle CubinWriter::AddSymbol(const SymbolSpec& spec) {
  const auto handle = static_cast<SymbolHandle>(state_->symbols.size());
  SymbolState& symbol = state_->symbols.emplace_back();
  const std::string_view name = spec.name.empty() && spec.section != kNoSection
                                    ? state_->NameOf(state_->At(spec.section))
                                    : spec.name;
  symbol.value = spec.value;
  symbol.size = spec.size;
  symbol.section = spec.section;
  symbol.info = static_cast<std::uint8_t>(spec.binding << 4 | spec.type);
  symbol.other = spec.other;
  symbol.in_global_part = spec.part == SymbolPart::kByBinding ? spec.binding == format::kStbGlobal
                                                              : spec.part == SymbolPart::kGlobal;
  if (symbol.in_global_part) {
    state_->AddLateName(name, handle);
  } else {
    symbol.name_id = state_->symbol_names.Add(name);
  }
  return handle;
}

void CubinWriter::CompleteSections() { state_->CompleteSections(); }

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
  state_->At(section).link_section = link;
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
  state_->At(section).size += count;
}
void CubinWriter::AppendWord(SectionHandle section, std::uint32_t word) {
  state_->AppendOwn(section, &word, sizeof(word));
}
void CubinWriter::AppendCopy(SectionHandle section, std::span<const std::uint8_t> bytes) {
  if (!bytes.empty()) state_->AppendOwn(section, bytes.data(), bytes.size());
}
void CubinWriter::AppendSymbolIndex(SectionHandle section, SymbolHandle symbol) {
  state_->MarkSymbolWord(state_->own.size());
  AppendWord(section, Index(symbol));
}

void CubinWriter::AddRelocation(SectionHandle section, std::uint64_t offset, std::uint32_t type,
                                SymbolHandle symbol, std::int64_t addend) {
  const bool with_addend = state_->At(section).type != format::kShtRel;
  const format::Rela entry{
      .offset = offset, .type = type, .symbol = Index(symbol), .addend = addend};
  state_->MarkSymbolWord(state_->own.size() + offsetof(format::Rela, symbol));
  state_->AppendOwn(section, &entry, with_addend ? sizeof(entry) : format::kRelSize);
}

void CubinWriter::AddAttribute(SectionHandle section, std::uint8_t format, std::uint8_t id,
                               std::uint16_t value) {
  const std::array<std::uint8_t, 4> head = {format, id, static_cast<std::uint8_t>(value & 0xff),
                                            static_cast<std::uint8_t>(value >> 8)};
  state_->AppendOwn(section, head.data(), head.size());
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

}  // namespace devlink
