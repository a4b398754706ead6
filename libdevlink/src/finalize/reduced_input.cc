// SPDX-License-Identifier: Apache-2.0
#include "finalize/reduced_input.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/align.h"
#include "finalize/linked_file.h"
#include "finalize/without_functions.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/line_table.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/views.h"
#include "format/without_gaps.h"

namespace devlink::internal {

namespace {

// NOP, of all targets with two views, as ptxas fills code with it; and, behind the number of its
// section, a capsule of one instruction that follows from it (docs/mercury.md, "Capsules").
constexpr std::array<std::uint8_t, format::kInstructionSize> kNothing = {
    0x18, 0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x0f, 0};
constexpr std::array<std::uint8_t, 12> kNothingPacked = {1, 0, 0, 0xc0, 1, 0, 0, 0, 1, 0, 0, 0};
// Where an instruction of the Mercury view has its number. In one that does nothing it is not read.
constexpr std::uint64_t kNumberInNothing = 12;

bool IsLeftOut(const InputSection& section, const CodeNames& names) {
  return section.role == SectionRole::kText && names.contains(section.name);
}

// What code says of shared memory and of textures counts for kernels.
bool CountsForKernels(const InputSymbol& symbol) {
  const std::uint32_t space = symbol.other & format::kStoSpaceMask;
  return space == format::kStoShared || space == format::kStoReservedShared ||
         format::IsTextureType(symbol.type);
}

std::vector<format::Rela> EntriesOf(const InputSection& list) {
  return format::ReadRelocations(list.data, list.type == format::kShtRela);
}

bool NamesWhatCounts(const ModuleView& view, const InputSection& list) {
  return std::ranges::any_of(EntriesOf(list), [&](const format::Rela& entry) {
    return entry.symbol >= view.symbol_count() || CountsForKernels(view.SymbolAt(entry.symbol));
  });
}

void KeepTraces(const ModuleView& view, CodeNames& names) {
  const std::vector<InputSection> sections = view.sections();
  const auto keep = [&](std::uint32_t section) {
    if (section < sections.size() && IsLeftOut(sections[section], names)) {
      names.erase(sections[section].name);
    }
  };
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const InputSymbol symbol = view.SymbolAt(i);
    if (symbol.binding == format::kStbWeak) keep(symbol.section);
  }
  for (const InputSection& section : sections) {
    if (section.role != SectionRole::kRelocations || section.info >= sections.size()) continue;
    if (!IsLeftOut(sections[section.info], names)) continue;
    if (NamesWhatCounts(view, section)) keep(section.info);
  }
}

bool IsSymbolTable(const InputSection& section) {
  return section.role == SectionRole::kTable && format::IsSymbolTable(section.type);
}

bool IsPlainTable(const std::vector<InputSection>& sections, std::uint32_t table) {
  const auto lines = format::LineTable::Read(sections[table].data);
  if (!lines || !lines->is_plain()) return false;
  base::HashSet<std::uint64_t> fields;
  std::size_t lists = 0;
  for (const InputSection& list : sections) {
    if (list.role != SectionRole::kRelocations || list.info != table) continue;
    ++lists;
    for (const format::Rela& entry : EntriesOf(list)) fields.insert(entry.offset);
  }
  for (const format::LineUnit& unit : lines->units()) {
    for (const format::LineSequence& sequence : lines->SequencesOf(unit)) {
      if (fields.erase(lines->AddressesOf(sequence)[0]) == 0) return false;
    }
  }
  // What is left names strings of heads.
  return lists <= 1 && std::ranges::all_of(fields, [&](std::uint64_t field) {
           return lines->HeadAt(field) != nullptr;
         });
}

// What is new is a small part of what was there.
std::vector<std::uint8_t> CopyWithRoom(base::Bytes bytes) {
  std::vector<std::uint8_t> out;
  out.reserve(bytes.size() + bytes.size() / 8 + 1024);
  out.assign(bytes.begin(), bytes.end());
  return out;
}

class Reduction {
 public:
  // `gone`: where code alone is wanted, those of the names of which nothing need stay.
  Reduction(const Module& module, const CodeNames& names, const CodeNames* gone)
      : module_(module), names_(names), gone_(gone), out_(CopyWithRoom(module.bytes())) {}

  std::vector<std::uint8_t> Run() {
    const std::uint64_t nothing = Append(kNothing);
    for (const format::ViewKind kind : {format::ViewKind::kSass, format::ViewKind::kMercury}) {
      if (module_.HasView(kind)) Reduce(module_.view(kind), nothing);
    }
    if (IsCodeAlone() && !gone_->empty()) {
      if (auto without = WithoutFunctions(module_, out_, *gone_)) return *std::move(without);
    }
    return format::WithoutGaps(std::move(out_));
  }

 private:
  [[nodiscard]] bool IsCodeAlone() const { return gone_ != nullptr; }

  // Content that stays is not touched, wherever it lies: what is new stands behind the file.
  std::uint64_t Append(base::Bytes bytes) {
    out_.resize(base::AlignUp(out_.size(), format::kInstructionSize));
    const std::uint64_t offset = out_.size();
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    return offset;
  }

  void Place(std::uint32_t section, std::uint64_t offset, std::uint64_t size) {
    const std::uint64_t header =
        module_.header().shoff + std::uint64_t{section} * sizeof(format::Shdr);
    std::memcpy(out_.data() + header + offsetof(format::Shdr, offset), &offset, sizeof(offset));
    std::memcpy(out_.data() + header + offsetof(format::Shdr, size), &size, sizeof(size));
  }

  void Reduce(const ModuleView& view, std::uint64_t nothing) {
    const std::vector<InputSection> sections = view.sections();
    for (std::uint32_t i = 0; i < sections.size(); ++i) {
      const InputSection& section = sections[i];
      if (IsLeftOut(section, names_)) {
        if (view.kind() == format::ViewKind::kSass) {
          Place(i, nothing, kNothing.size());
        } else {
          PlaceCapsule(i, section.data);
        }
      } else if (section.role == SectionRole::kRelocations ||
                 section.role == SectionRole::kFunctionInfo) {
        if (section.info >= sections.size() || !IsLeftOut(sections[section.info], names_)) continue;
        Place(i, nothing, 0);
        if (IsCodeAlone() && section.role == SectionRole::kRelocations)
          KeepPlaces(view, section, i);
      } else if (IsCodeAlone() && section.name.starts_with(format::section_name::kPtxText)) {
        Place(i, nothing, 0);
      } else if (IsCodeAlone() && format::IsLineTable(section.name)) {
        ReduceLines(view, sections, i);
      } else if (IsSymbolTable(section)) {
        ShortenSymbols(view, sections, section.data);
      }
    }
  }

  // Where shared memory lies depends on who names it, and code that stays says where: so one
  // reference to each variable stays, of the instruction that does nothing.
  void KeepPlaces(const ModuleView& view, const InputSection& list, std::uint32_t number) {
    const bool is_mercury = view.kind() == format::ViewKind::kMercury;
    const std::uint64_t place = is_mercury ? kNumberInNothing : 0;
    base::HashSet<std::uint32_t> known;
    std::vector<format::Rela> kept;
    for (format::Rela entry : EntriesOf(list)) {
      if (entry.symbol >= view.symbol_count() || !CountsForKernels(view.SymbolAt(entry.symbol))) {
        continue;
      }
      const format::RelocationInfo* info = format::FindRelocation(entry.type);
      const bool fits = info != nullptr && place + info->bytes <= kNothing.size();
      if (!fits || !known.insert(entry.symbol).second) continue;
      entry.offset = place;
      kept.push_back(entry);
    }
    PlaceEntries(number, list, kept);
  }

  void PlaceEntries(std::uint32_t number, const InputSection& list,
                    const std::vector<format::Rela>& entries) {
    const auto bytes = format::WriteRelocations(entries, list.type == format::kShtRela);
    Place(number, Append(bytes), bytes.size());
  }

  // Of a table that is plain (HasPlainLines), which has one list. Lines of code that goes are half
  // of what the library has to read of a part with lines.
  void ReduceLines(const ModuleView& view, const std::vector<InputSection>& sections,
                   std::uint32_t table) {
    const auto list = std::ranges::find_if(sections, [&](const InputSection& section) {
      return section.role == SectionRole::kRelocations && section.info == table;
    });
    if (list == sections.end()) return;
    const std::vector<format::Rela> all = EntriesOf(*list);
    base::HashSet<std::uint64_t> stay;  // fields
    for (const format::Rela& entry : all) {
      const std::uint32_t code =
          entry.symbol < view.symbol_count() ? view.SymbolAt(entry.symbol).section : 0;
      if (code >= sections.size() || IsLeftOut(sections[code], names_)) continue;
      stay.insert(entry.offset);
    }
    const auto kept = format::KeepLines(
        sections[table].data, [&](std::uint64_t field) -> std::optional<std::uint32_t> {
          return stay.contains(field) ? std::optional(0U) : std::nullopt;
        });
    if (!kept) return;
    std::vector<format::Rela> entries;
    for (format::Rela entry : all) {
      const auto place = kept->PlaceOf(entry.offset);
      if (!place) continue;
      entry.offset = *place;
      entries.push_back(entry);
    }
    Place(table, Append(kept->bytes), kept->bytes.size());
    PlaceEntries(static_cast<std::uint32_t>(list - sections.begin()), *list, entries);
  }

  // A symbol that is larger than its code makes the library write where it must not. A second table
  // is not the view's.
  void ShortenSymbols(const ModuleView& view, const std::vector<InputSection>& sections,
                      base::Bytes table) {
    if (table.size() != view.symbol_count() * sizeof(format::Sym)) return;
    const auto begin = static_cast<std::uint64_t>(table.data() - module_.bytes().data());
    const std::uint64_t size = kNothing.size();
    for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
      const InputSymbol symbol = view.SymbolAt(i);
      if (symbol.section >= sections.size() || symbol.size <= size) continue;
      if (!IsLeftOut(sections[symbol.section], names_)) continue;
      const std::uint64_t place = begin + std::uint64_t{i} * sizeof(format::Sym);
      std::memcpy(out_.data() + place + offsetof(format::Sym, size), &size, sizeof(size));
    }
  }

  void PlaceCapsule(std::uint32_t section, base::Bytes capsule) {
    std::array<std::uint8_t, format::kCapsuleSectionWord + kNothingPacked.size()> bytes = {};
    const std::uint32_t number = format::MachineCodeOf(capsule);
    std::memcpy(bytes.data(), &number, sizeof(number));
    std::memcpy(bytes.data() + format::kCapsuleSectionWord, kNothingPacked.data(),
                kNothingPacked.size());
    Place(section, Append(bytes), bytes.size());
  }

  const Module& module_;
  const CodeNames& names_;
  const CodeNames* gone_;
  std::vector<std::uint8_t> out_;
};

}  // namespace

void KeepTraces(const Module& module, CodeNames& names) {
  if (names.empty()) return;
  for (const format::ViewKind kind : {format::ViewKind::kSass, format::ViewKind::kMercury}) {
    if (module.HasView(kind)) KeepTraces(module.view(kind), names);
  }
}

std::optional<std::vector<std::uint8_t>> WithoutCode(const Module& module, const CodeNames& names) {
  const ModuleView& view = module.sass();
  for (std::uint32_t i = 0; i < view.section_count(); ++i) {
    if (view.RoleAt(i) != SectionRole::kText || !IsLeftOut(view.SectionAt(i), names)) continue;
    return Reduction(module, names, /*gone=*/nullptr).Run();
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint8_t>> CodeAlone(const Module& module, const CodeNames& others,
                                                   const CodeNames& gone) {
  const ModuleView& view = module.sass();
  for (std::uint32_t i = 0; i < view.section_count(); ++i) {
    const InputSection section = view.SectionAt(i);
    const bool can_go = IsLeftOut(section, others) || format::IsLineTable(section.name) ||
                        section.name.starts_with(format::section_name::kPtxText);
    if (can_go) return Reduction(module, others, &gone).Run();
  }
  return std::nullopt;
}

bool HasPlainLines(const Module& module) {
  for (const format::ViewKind kind : {format::ViewKind::kSass, format::ViewKind::kMercury}) {
    if (!module.HasView(kind)) continue;
    const std::vector<InputSection> sections = module.view(kind).sections();
    for (std::uint32_t i = 1; i < sections.size(); ++i) {
      if (format::IsLineTable(sections[i].name) && !IsPlainTable(sections, i)) return false;
    }
  }
  return true;
}

bool HasCode(base::Bytes cubin, const CodeNames& names) {
  const auto file = LinkedFile::Read(cubin);
  if (!file.ok()) return true;
  for (std::uint32_t i = 1; i < file->section_count(); ++i) {
    if (names.contains(file->NameOf(i))) return true;
  }
  return false;
}

}  // namespace devlink::internal
