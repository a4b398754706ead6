// SPDX-License-Identifier: Apache-2.0
#include "merge/input_maps.h"

namespace devlink::internal {

InputMap MapOf(const InputState& input) {
  InputMap map;
  map.symbols = input.symbols;
  map.sections.reserve(input.section_map.size());
  for (const SectionMapping& mapping : input.section_map) {
    const bool mapped = mapping.state == SectionMapping::kMapped;
    map.sections.push_back(mapped ? SectionPlace{mapping.section, mapping.base} : SectionPlace());
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
  return section.kind == SectionKind::kText ||
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
