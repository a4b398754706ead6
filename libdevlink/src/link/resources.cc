// SPDX-License-Identifier: Apache-2.0
#include "link/resources.h"

#include <algorithm>
#include <limits>

#include "format/nv_info.h"

namespace devlink::internal {

namespace {

// Reads REGCOUNT and FRAME_SIZE; where a function has several, the one that arrived last counts.
void ReadOwn(const Program& program, Resources& out) {
  out.function_registers.assign(program.functions.size(), 0);
  out.frames.assign(program.functions.size(), 0);
  const Section& section = program.sections[program.module_info];
  for (const InfoEntry& entry : program.info_lists[section.info_list]) {
    if (entry.format != format::kInfoSized || entry.symbol == kNone) continue;
    const FunctionId function = program.symbols[entry.symbol].function;
    if (function == kNone) continue;
    const auto value = base::BoundedReader(entry.payload).ReadOrZero<std::uint32_t>(4);
    if (entry.id == format::kAttrRegCount) out.function_registers[function] = value;
    if (entry.id == format::kAttrFrameSize) out.frames[function] = value;
  }
}

}  // namespace

Resources PropagateResources(const Program& program, const CallGraph& graph,
                             const Liveness& liveness) {
  Resources out;
  ReadOwn(program, out);
  struct Sum {
    std::uint32_t registers = 0;
    std::uint32_t stack = 0;
    bool unbounded = false;
  };
  std::vector<Sum> sums(graph.component_count());
  for (ComponentId component = 0; component < graph.component_count(); ++component) {
    Sum& sum = sums[component];
    std::uint32_t deepest = 0;
    sum.unbounded = graph.IsCyclic(component);
    for (const NodeId node : graph.Members(component)) {
      for (const NodeId target : graph.Successors(node)) {
        const ComponentId callee = graph.ComponentOf(target);
        if (callee == component) continue;
        sum.registers = std::max(sum.registers, sums[callee].registers);
        deepest = std::max(deepest, sums[callee].stack);
        sum.unbounded = sum.unbounded || sums[callee].unbounded;
      }
      if (node >= graph.function_count()) continue;
      sum.registers = std::max(sum.registers, out.function_registers[node]);
      sum.stack = out.frames[node];  // of no meaning where there are several members
    }
    sum.stack += deepest;
  }
  for (const FunctionId entry : liveness.entries) {
    const Sum& sum = sums[graph.ComponentOf(entry)];
    EntryResources& resources = out.entries.emplace_back();
    resources.registers = sum.registers;
    if (!sum.unbounded) resources.stack = sum.stack;
  }
  return out;
}

Resources OwnResources(const Program& program, const Liveness& liveness) {
  Resources out;
  for (const FunctionId kernel : liveness.entries) {
    out.entries.push_back({.registers = program.functions[kernel].registers, .stack = 0});
  }
  return out;
}

}  // namespace devlink::internal
