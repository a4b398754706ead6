// SPDX-License-Identifier: Apache-2.0
#include "merge/relocation_merge.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/sections.h"

namespace devlink::internal {

namespace section_name = format::section_name;

namespace {

// Constants of a discarded copy have no place of their own; all else has one by now.
bool IsRelocatable(const InputSection& section) {
  return section.role != SectionRole::kFunctionConstants &&
         section.role != SectionRole::kKernelShared;
}

}  // namespace

void RelocationMerge::Run(std::uint32_t index) {
  const InputSection& section = input_.sections[index];
  if (section.size == 0) return;  // nothing of it was checked
  const SectionMapping target = input_.section_map[section.info];
  if (target.state == SectionMapping::kUnmapped && IsRelocatable(input_.sections[section.info])) {
    findings_.ReportLost(
        base::Cat({"its section '", section.name, "' relocates what is not there"}));
  }
  if (target.state != SectionMapping::kMapped && !KeepsTableOf(section.info)) return;
  if (target.state == SectionMapping::kDiscarded) {
    program_.residue.discarded_variables[target.section] = target.base;
  }
  const bool with_addend = section.type == format::kShtRela;
  const std::uint64_t step = format::SizeOfRelocation(with_addend);
  const std::uint64_t count = section.size / step;
  const base::BoundedReader entries(section.data);
  const auto read = [&](std::uint64_t i) {
    format::Rela relocation = {};
    if (with_addend) {
      relocation = entries.ReadOrZero<format::Rela>(i * step);
    } else {
      relocation.offset = entries.ReadOrZero<std::uint64_t>(i * step);
      relocation.type = entries.ReadOrZero<std::uint32_t>(i * step + 8);
      relocation.symbol = entries.ReadOrZero<std::uint32_t>(i * step + 12);
    }
    return relocation;
  };

  std::ranges::sort(input_.discarded_data, {}, [](const InputState::Range& range) {
    return std::pair(range.section, range.begin);
  });
  bool any = false;
  for (std::uint64_t i = 0; i < count && !any; ++i) {
    any = !IsOfDuplicate(read(i), section.info) && !IsOfDiscarded(read(i), target);
  }
  if (!any) return;
  const SectionId list =
      with_addend ? builder_.RelocationSection(section.name, target.section, section.type) : kNone;
  if (with_addend && writes_phantom_rel_names_) {
    // A name for relocations without addend appears where nvlink thought it would need it.
    bool phantom = false;
    bool first = true;  // the first that stays does not count
    for (std::uint64_t i = 0; i < count && !phantom; ++i) {
      if (IsOfDuplicate(read(i), section.info) || IsOfDiscarded(read(i), target)) continue;
      phantom = !first && read(i).addend == 0;
      first = false;
    }
    if (phantom && program_.sections[target.section].rel == kNone) {
      const std::string_view name =
          builder_.Concat(section_name::kRel, section.name.substr(section_name::kRela.size()));
      builder_.RelocationSection(name, target.section, format::kShtRel);
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const format::Rela relocation = read(i);
    if (IsOfDuplicate(relocation, section.info)) continue;
    if (!with_addend && IsOfDiscarded(relocation, target)) continue;
    if (input_.sections[section.info].role == SectionRole::kConstantBank &&
        IsToSecondCopy(relocation)) {
      SecondCopyPointers& pointers = program_.second_copy_pointers;
      if (pointers.count++ == 0) {
        pointers.first = input_.view->SymbolAt(relocation.symbol).name;
      }
    }
    if (with_addend) {
      Take(relocation, list, target);
    } else if (builder_.force_rela || MovesSection(relocation)) {
      // The base of the contribution has to go somewhere: it becomes an addend.
      if (builder_.force_rela) {  // nvlink enters the name all the same
        builder_.RelocationSection(section.name, target.section, format::kShtRel);
      }
      const std::string_view name =
          builder_.Concat(section_name::kRela, section.name.substr(section_name::kRel.size()));
      Take(relocation, builder_.RelocationSection(name, target.section, format::kShtRela), target);
    } else {
      Take(relocation, builder_.RelocationSection(section.name, target.section, format::kShtRel),
           target);
    }
  }
}

// Of a function of which another body stays nvlink keeps jump tables in the Mercury view, beside or
// under those of the other.
bool RelocationMerge::KeepsTableOf(std::uint32_t section) const {
  const InputSection& constants = input_.sections[section];
  const SectionMapping& mapping = input_.section_map[section];
  return program_.view == format::ViewKind::kMercury &&
         constants.role == SectionRole::kFunctionConstants && !constants.IsParameterBank() &&
         mapping.state == SectionMapping::kDiscarded && mapping.section != kNone;
}

// Pointers in a second copy of a weak variable go with it. For nvlink, so do all pointers from
// constants to a second copy: they stay null, and lead nowhere.
bool RelocationMerge::IsOfDuplicate(const format::Rela& relocation, std::uint32_t section) const {
  const SectionRole role = input_.sections[section].role;
  if (role == SectionRole::kConstantBank) {
    return IsToSecondCopy(relocation) &&
           (findings_.as_nvlink() || IsDiscarded(relocation, section));
  }
  return role == SectionRole::kGlobalInit && IsDiscarded(relocation, section);
}

bool RelocationMerge::IsToSecondCopy(const format::Rela& relocation) const {
  return input_.duplicate[relocation.symbol] || input_.discarded[relocation.symbol];
}

// Whether it lies in a variable of which another copy stays.
bool RelocationMerge::IsDiscarded(const format::Rela& relocation, std::uint32_t section) const {
  const auto after = std::ranges::upper_bound(
      input_.discarded_data, std::pair(section, relocation.offset), {},
      [](const InputState::Range& range) { return std::pair(range.section, range.begin); });
  if (after == input_.discarded_data.begin()) return false;
  const InputState::Range& range = *std::prev(after);
  return range.section == section && relocation.offset < range.end;
}

// Lines and frames of a discarded copy keep the zeroes of the input. Other debug sections name the
// copy that stays.
bool RelocationMerge::IsOfDiscarded(const format::Rela& relocation,
                                    const SectionMapping& target) const {
  const Section& section = program_.sections[target.section];
  return input_.discarded[relocation.symbol] && section.kind == SectionKind::kDebug &&
         format::GoesWithBody(section.name);
}

// Refers to a section symbol of the input whose bytes do not come first in the output's section.
bool RelocationMerge::MovesSection(const format::Rela& relocation) const {
  if (input_.view->SymbolTypeAt(relocation.symbol) != format::kSttSection) return false;
  const InputSymbol symbol = input_.view->SymbolAt(relocation.symbol);
  if (symbol.section >= input_.section_map.size()) return false;
  const SectionMapping& mapped = input_.section_map[symbol.section];
  return mapped.state == SectionMapping::kMapped && mapped.base != 0;
}

void RelocationMerge::Lose(const format::Rela& relocation, const SectionMapping& target) {
  const Section& section = program_.sections[target.section];
  if (relocation.symbol == 0 || section.kind == SectionKind::kDebug) return;
  findings_.ReportLost(
      base::Cat({"a relocation of '", section.name, "' names '",
                 input_.view->SymbolAt(relocation.symbol).name, "', which is nowhere"}));
}

void RelocationMerge::Take(const format::Rela& relocation, SectionId list,
                           const SectionMapping& target) {
  Relocation out{.offset = relocation.offset + target.base,
                 .addend = relocation.addend,
                 .section = target.section,
                 .list = list,
                 .type = relocation.type};
  if (input_.view->SymbolTypeAt(relocation.symbol) == format::kSttSection) {
    const InputSymbol symbol = input_.view->SymbolAt(relocation.symbol);
    if (symbol.section >= input_.section_map.size()) return Lose(relocation, target);
    const SectionMapping& mapped = input_.section_map[symbol.section];
    if (mapped.state == SectionMapping::kDiscarded) return;
    if (mapped.state != SectionMapping::kMapped) return Lose(relocation, target);
    out.symbol = program_.sections[mapped.section].symbol;
    // An input may state any addend; it wraps.
    out.addend =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(relocation.addend) + mapped.base);
  } else {
    out.symbol = input_.symbols[relocation.symbol];
    if (out.symbol == kNone) return Lose(relocation, target);
    if (IsOfDiscarded(relocation, target)) return;
  }
  program_.relocations.push_back(out);
}

}  // namespace devlink::internal
