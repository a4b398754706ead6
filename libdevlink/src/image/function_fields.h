// SPDX-License-Identifier: Apache-2.0
//
// The fields of a section of debug information that say where code is.
#pragma once

#include <cstdint>

#include "base/hash_table.h"
#include "link/pass_results.h"
#include "model/program.h"

namespace devlink::internal {

// Relocations to functions that stay, by the field that each fills in. They borrow from `passes`.
using FunctionFields = base::HashMap<std::uint64_t, const KeptRelocation*>;

inline FunctionFields FunctionFieldsOf(const PassResults& passes, SectionId section) {
  FunctionFields out;
  const Program& program = passes.program;
  for (const KeptRelocation& kept : passes.relocated.kept) {
    if (program.sections[kept.list].owner != section) continue;
    if (program.symbols[kept.symbol].function != kNone) out[kept.offset] = &kept;
  }
  return out;
}

}  // namespace devlink::internal
