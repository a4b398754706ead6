// SPDX-License-Identifier: Apache-2.0
#include "link/liveness.h"

namespace devlink::internal {

namespace {

// A section goes with the function it belongs to, and a relocation section with what it relocates.
bool GoesWith(const Program& program, const std::vector<bool>& live, const Section& section) {
  if (section.function == kNone) return false;
  const Function& function = program.functions[section.function];
  return !live[section.function] && function.text != kNone;
}

}  // namespace

Liveness FindLiveFunctions(const Program& program, const CallGraph& graph, bool keep_all) {
  const auto count = static_cast<FunctionId>(program.functions.size());
  Liveness result;
  for (FunctionId i = 0; i < count; ++i) {
    if (program.functions[i].entry) result.entries.push_back(i);
  }
  result.address_taken.assign(count, false);
  for (const PrototypeUse& use : program.addresses_taken) result.address_taken[use.function] = true;

  if (keep_all) {
    result.live.assign(count, true);
  } else {
    const std::vector<bool> reached = ReachableFrom(graph, result.entries);
    result.live.assign(reached.begin(), reached.begin() + count);
    for (const PrototypeUse& use : program.addresses_taken) {
      result.live[use.function] = true;
      for (const FunctionId callee : graph.DirectCallees(use.function)) {
        if (!program.IsDefined(callee)) result.live[callee] = true;
      }
    }
  }
  result.section_removed.reserve(program.sections.size());
  for (const Section& section : program.sections) {
    result.section_removed.push_back(GoesWith(program, result.live, section));
  }
  return result;
}

}  // namespace devlink::internal
