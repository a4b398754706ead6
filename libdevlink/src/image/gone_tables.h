// SPDX-License-Identifier: Apache-2.0
//
// Jump tables of functions with several bodies, as nvlink writes them (docs/mercury.md, "Bodies
// that went"): its finalizer puts in the places that the body that stays has for its own tables,
// and zero where a table is of another body. No code reads that one.
#pragma once

#include <cstdint>
#include <optional>

#include "base/hash_table.h"
#include "image/view_pairs.h"
#include "link/relocate.h"
#include "model/program.h"

namespace devlink::internal {

class GoneTables {
 public:
  // Borrows the Mercury view's program.
  GoneTables(const Program& mercury, const Program& sass, const ViewPairs& pairs);

  [[nodiscard]] bool empty() const { return places_.empty(); }
  // The entry of a table in machine code that a relocation of the Mercury view is for; nothing for
  // a function that has no tables but its own, where machine code has it already.
  [[nodiscard]] std::optional<std::uint32_t> EntryFor(const KeptRelocation& kept) const;

 private:
  const Program& mercury_;
  // By function, and where its own tables lead to in the Mercury view: where in machine code.
  base::HashMap<FunctionId, base::HashMap<std::int64_t, std::uint32_t>> places_;
};

}  // namespace devlink::internal
