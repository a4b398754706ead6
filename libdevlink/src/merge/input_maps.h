// SPDX-License-Identifier: Apache-2.0
//
// Where the sections and symbols of each input went: what a second program over the same file is
// projected by.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/input_state.h"
#include "merge/replaced_bodies.h"
#include "model/program.h"

namespace devlink::internal {

// Where a section went. Those of which nothing is left have no place, and neither have the call
// graph and notes, which are no sections of the program.
struct SectionPlace {
  SectionId section = kNone;
  std::uint64_t base = 0;  // of its bytes there
  // Attributes and relocations, which are taken record by record: the section has those that stay,
  // among others. A relocation that gets an addend stands in the section's `.rela` counterpart.
  bool by_record = false;
  friend bool operator==(const SectionPlace&, const SectionPlace&) = default;
};

struct InputMap {
  std::vector<SectionPlace> sections;  // by section of the input
  std::vector<SymbolId> symbols;       // by symbol of the input; kNone: it has none
};

// In link order. Large links have millions of symbols, so these are kept only where they are asked
// for.
using InputMaps = std::vector<InputMap>;

// The map of an input that has been merged.
[[nodiscard]] InputMap MapOf(const InputState& input, const Program& program);

// Takes out of the maps what a later input replaced. Before the program is compacted.
void ForgetReplaced(const ReplacedBodies& replaced, const Program& program, InputMaps& maps);

}  // namespace devlink::internal
