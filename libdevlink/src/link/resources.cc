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
  for (const AttributeRecord& record : program.info_lists[section.info_list]) {
    if (record.format != format::kInfoSized || record.symbol == kNone) continue;
    const FunctionId function = program.symbols[record.symbol].function;
    if (function == kNone) continue;
    const auto value = base::BoundedReader(record.payload).ReadOrZero<std::uint32_t>(4);
    if (record.id == format::kAttrRegCount) out.function_registers[function] = value;
    if (record.id == format::kAttrFrameSize) out.frames[function] = value;
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
  for (const FunctionId kernel : liveness.kernels) {
    const Sum& sum = sums[graph.ComponentOf(kernel)];
    KernelResources& resources = out.kernels.emplace_back();
    resources.registers = sum.registers;
    if (!sum.unbounded) {
      resources.stack = sum.stack;
      continue;
    }
    const auto direct = graph.DirectCallees(kernel);
    std::vector<NodeId> callees(direct.begin(), direct.end());
    std::ranges::sort(callees);
    const auto repeated = std::ranges::unique(callees);
    callees.erase(repeated.begin(), repeated.end());
    resources.calls_into_circles = static_cast<std::uint32_t>(std::ranges::count_if(
        callees, [&](NodeId callee) { return sums[graph.ComponentOf(callee)].unbounded; }));
  }
  return out;
}

Resources OwnResources(const Program& program, const Liveness& liveness) {
  Resources out;
  ReadOwn(program, out);
  for (const FunctionId kernel : liveness.kernels) {
    out.kernels.push_back({.registers = program.functions[kernel].registers, .stack = 0});
  }
  return out;
}

}  // namespace devlink::internal
