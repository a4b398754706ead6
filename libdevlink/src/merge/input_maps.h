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

// A section's bytes in the output. Sections that are merged record by record (attributes, call
// graph, relocations, notes) have no place, and neither have those of which nothing is left.
struct SectionPlace {
  SectionId section = kNone;
  std::uint64_t base = 0;
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
[[nodiscard]] InputMap MapOf(const InputState& input);

// Takes out of the maps what a later input replaced. Before the program is compacted.
void ForgetReplaced(const ReplacedBodies& replaced, const Program& program, InputMaps& maps);

}  // namespace devlink::internal
