// SPDX-License-Identifier: Apache-2.0
#include "link/resources.h"

#include <algorithm>
#include <limits>

#include "base/hash_table.h"
#include "format/nv_info.h"

namespace devlink::internal {

namespace {

// Reads REGCOUNT and FRAME_SIZE, and of kernels that an assembler laid out with all that they call
// whether their stack has a bound; where a function has several, the one that arrived last counts.
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
    if (record.id == format::kAttrMinStackSize && value == format::kUnknownStackSize) {
      out.unbounded.insert(function);
    }
  }
}

// Of a call through a pointer every function counts that can be meant, as often as there are such
// calls; of functions called by name each once. Found with random programs.
template <typename IsUnbounded>
void CountCallsIntoCircles(const Program& program, const CallGraph& graph, const Liveness& liveness,
                           const IsUnbounded& is_unbounded, Resources& out) {
  base::HashMap<std::uint32_t, std::uint32_t> pointees;  // by prototype
  for (const PrototypeUse& use : program.addresses_taken) {
    if (is_unbounded(use.function)) ++pointees[use.prototype];
  }
  base::HashMap<FunctionId, std::uint32_t> through_pointers;
  for (const PrototypeUse& use : program.indirect_callers) {
    const auto found = pointees.find(use.prototype);
    if (found != pointees.end()) through_pointers[use.function] += found->second;
  }
  for (std::size_t i = 0; i < liveness.kernels.size(); ++i) {
    if (out.kernels[i].stack) continue;
    const auto direct = graph.DirectCallees(liveness.kernels[i]);
    std::vector<NodeId> callees(direct.begin(), direct.end());
    std::ranges::sort(callees);
    const auto repeated = std::ranges::unique(callees);
    callees.erase(repeated.begin(), repeated.end());
    const auto through = through_pointers.find(liveness.kernels[i]);
    out.kernels[i].calls_into_circles =
        static_cast<std::uint32_t>(std::ranges::count_if(callees, is_unbounded)) +
        (through == through_pointers.end() ? 0 : through->second);
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
      sum.unbounded = sum.unbounded || out.unbounded.contains(node);
      sum.registers = std::max(sum.registers, out.function_registers[node]);
      sum.stack = out.frames[node];  // of no meaning where there are several members
    }
    sum.stack += deepest;
  }
  const auto is_unbounded = [&](NodeId node) { return sums[graph.ComponentOf(node)].unbounded; };
  bool has_unknown_stack = false;
  for (const FunctionId kernel : liveness.kernels) {
    KernelResources& resources = out.kernels.emplace_back();
    resources.registers = sums[graph.ComponentOf(kernel)].registers;
    if (is_unbounded(kernel)) {
      has_unknown_stack = true;
    } else {
      resources.stack = sums[graph.ComponentOf(kernel)].stack;
    }
  }
  if (has_unknown_stack) CountCallsIntoCircles(program, graph, liveness, is_unbounded, out);
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
