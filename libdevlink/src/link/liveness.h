// SPDX-License-Identifier: Apache-2.0
//
// Pass 3: which functions stay.
#pragma once

#include <vector>

#include "link/call_graph.h"

namespace devlink::internal {

struct Liveness {
  std::vector<FunctionId> entries;    // in creation order; all of them stay
  std::vector<bool> live;             // by FunctionId
  std::vector<bool> section_removed;  // by SectionId: belongs to a function that goes
  std::vector<bool> address_taken;    // by FunctionId
};

// Entries stay with all that they reach. A function whose address is taken stays too, but what only
// it calls goes (docs/cubin-format.md, "Dead functions"). `keep_all` is nvlink -g.
Liveness FindLiveFunctions(const Program& program, const CallGraph& graph, bool keep_all);

}  // namespace devlink::internal
