// SPDX-License-Identifier: Apache-2.0
#include "merge/input_maps.h"

#include <cstddef>

namespace devlink::internal {

namespace {

// The list that records of a section went to; kNone for sections that are not merged by record.
SectionId ListOf(const InputSection& section, const InputState& input, const Program& program) {
  if (section.role == SectionRole::kModuleInfo) return program.module_info;
  if (section.role != SectionRole::kFunctionInfo && section.role != SectionRole::kRelocations) {
    return kNone;
  }
  const SectionMapping& owner = input.section_map[section.info];
  if (owner.state != SectionMapping::kMapped) return kNone;
  const Section& of = program.sections[owner.section];
  if (section.role == SectionRole::kRelocations) return of.rel;
  return of.function == kNone ? kNone : program.functions[of.function].info;
}

}  // namespace

InputMap MapOf(const InputState& input, const Program& program) {
  InputMap map;
  map.symbols = input.symbols;
  map.sections.reserve(input.section_map.size());
  for (std::size_t i = 0; i < input.section_map.size(); ++i) {
    const SectionMapping& mapping = input.section_map[i];
    SectionPlace& place = map.sections.emplace_back();
    if (mapping.state == SectionMapping::kMapped) {
      place = {.section = mapping.section, .base = mapping.base};
    } else if (const SectionId list = ListOf(input.sections[i], input, program); list != kNone) {
      place = {.section = list, .by_record = true};
    }
  }
  return map;
}

namespace {

// Whether an input that was mapped there has lost its part to the body that another one brought.
bool IsLost(const ReplacedBodies& replaced, const Program& program, const Section& section,
            SectionId id, InputId input) {
  if (section.function == kNone || !replaced.HasReplaced(section.function)) return false;
  const SymbolId symbol = program.functions[section.function].symbol;
  if (program.symbols[symbol].input == input) return false;
  return section.kind == SectionKind::kText || section.kind == SectionKind::kFunctionInfo ||
         section.kind == SectionKind::kRelocations ||
         (section.kind == SectionKind::kFunctionConstants && replaced.WasEmptied(id));
}

}  // namespace

void ForgetReplaced(const ReplacedBodies& replaced, const Program& program, InputMaps& maps) {
  if (replaced.empty()) return;
  for (InputId input = 0; input < maps.size(); ++input) {
    for (SectionPlace& place : maps[input].sections) {
      if (place.section == kNone) continue;
      const Section& section = program.sections[place.section];
      if (IsLost(replaced, program, section, place.section, input)) place = {};
    }
  }
}

}  // namespace devlink::internal
