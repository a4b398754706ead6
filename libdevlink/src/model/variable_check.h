// SPDX-License-Identifier: Apache-2.0
//
// Where the variables of a view lie, held against their sections.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "model/module.h"
#include "model/wrong_part.h"

namespace devlink::internal {

// A variable in a section that exists.
struct PlacedVariable {
  std::uint32_t section = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// No two variables have bytes in common, none reaches beyond zeroed memory, and an assembler's
// zeroed memory, values and constants end with the last of them. What -r joins may end later.
// Nor do constants of functions end with a variable that are not `named`, as those of an extensible
// program. Leaves `variables` sorted.
WrongSection WrongInVariables(std::span<const InputSection> sections,
                              std::vector<PlacedVariable>& variables, bool named,
                              absl::FunctionRef<bool()> from_assembler);

// Each relocation of values and of `__constant__` variables lies within one of `variables`, which
// are sorted and reach no further than their sections. An assembler's do; nvlink -r leaves some of
// variables that it replaced.
WrongSection WrongInPointers(std::span<const InputSection> sections,
                             std::span<const PlacedVariable> variables);

}  // namespace devlink::internal
