// SPDX-License-Identifier: Apache-2.0
#include "link/liveness.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "link/pointer_walk.h"

namespace devlink::internal {

namespace {

// A section goes with the function it belongs to, and a relocation section with what it relocates.
bool GoesWith(const Program& program, const std::vector<bool>& live, const Section& section) {
  if (section.function == kNone) return false;
  const Function& function = program.functions[section.function];
  return !live[section.function] && function.text != kNone;
}

// All code that `result.kernels` reach is reached by `wanted`, or stays as its address is taken.
bool NoneLost(const Program& program, const CallGraph& graph, const Liveness& result,
              std::span<const FunctionId> wanted) {
  const std::vector<bool> all = ReachableFrom(graph, result.kernels);
  const std::vector<bool> some = ReachableFrom(graph, wanted);
  for (FunctionId i = 0; i < result.address_taken.size(); ++i) {
    if (all[i] && !some[i] && !result.address_taken[i] && program.IsDefined(i)) return false;
  }
  return true;
}

// Whether a function whose address is taken calls what goes.
bool AnyBehindPointers(const Program& program, const CallGraph& graph,
                       const std::vector<bool>& live) {
  return std::ranges::any_of(program.addresses_taken, [&](const PrototypeUse& use) {
    const auto callees = graph.DirectCallees(use.function);
    return std::ranges::any_of(callees, [&](NodeId node) { return !live[node]; });
  });
}

// `met` is what pointers lead to.
void KeepBehindPointers(const Program& program, const std::vector<bool>& met, Liveness& result) {
  for (FunctionId i = 0; i < result.live.size(); ++i) {
    if (!met[i] || result.live[i]) continue;
    if (program.IsDefined(i)) {
      result.behind_pointers.push_back(i);
    } else if (result.missing_behind_pointers == kNone &&
               HasToBeDefined(program.symbols[program.functions[i].symbol])) {
      result.missing_behind_pointers = i;
    }
    if (!result.loses_behind_pointers) result.live[i] = true;
  }
  if (result.behind_pointers.empty()) return;
  for (const PrototypeUse& use : program.addresses_taken) {
    if (met[use.function]) result.pointed.push_back(use.function);
  }
}

// What stays without a kernel: all that `rules.also` come to, and what a pointer leads to.
void KeepForOthers(const Program& program, const CallGraph& graph, const LivenessRules& rules,
                   Liveness& result) {
  if (!rules.also.empty()) {
    const std::vector<bool> asked_for = ReachableFrom(graph, rules.also);
    for (FunctionId i = 0; i < result.live.size(); ++i) {
      if (asked_for[i]) result.live[i] = true;
    }
  }
  std::vector<bool> met;
  if (!rules.as_nvlink && AnyBehindPointers(program, graph, result.live)) {
    met = ReachedByPointers(program, graph, result.live, result.address_taken);
  }
  for (const PrototypeUse& use : program.addresses_taken) {
    result.live[use.function] = true;
    for (const FunctionId callee : graph.DirectCallees(use.function)) {
      if (!program.IsDefined(callee)) result.live[callee] = true;
    }
  }
  if (!met.empty()) KeepBehindPointers(program, met, result);
}

// Where one kernel is wanted nvlink follows its calls, and those of no other that stays; what that
// would lose is not lost here.
void FindWhatOneLoses(const Program& program, const CallGraph& graph, bool keep_all,
                      std::span<const FunctionId> wanted, const LivenessRules& rules,
                      Liveness& result) {
  if (wanted.size() != 1) return;
  const FunctionId one = wanted.front();
  if (rules.as_nvlink || result.kernels.size() == 1 || NoneLost(program, graph, result, wanted)) {
    result.single_kernel = one;
  }
  if (rules.as_nvlink) {
    if (keep_all) return;
    for (const FunctionId kernel : result.kernels) {
      if (kernel != one) result.unfollowed.push_back(kernel);
    }
    return;
  }
  for (const FunctionId kernel : result.kernels) {
    if (kernel == one || graph.Successors(kernel).empty()) continue;
    result.keeps_lost = true;
    if (!keep_all) result.lost_by_one = {kernel, one};
    break;
  }
}

}  // namespace

bool HasToBeDefined(const Symbol& function) {
  return function.binding != format::kStbLocal && !function.weak_reference &&
         !format::IsSystemCall(function.name);
}

Liveness FindLiveFunctions(const Program& program, const CallGraph& graph, bool keep_all,
                           const KernelSelection& kernels, const LivenessRules& rules) {
  const auto count = static_cast<FunctionId>(program.functions.size());
  Liveness result;
  result.loses_behind_pointers = rules.loses_behind_pointers;
  result.address_taken.assign(count, false);
  for (const PrototypeUse& use : program.addresses_taken) result.address_taken[use.function] = true;

  // What device code can come to run stays, whoever else does not want it.
  std::vector<bool> used_by_device = result.address_taken;
  for (const CallEdge& call : program.calls) used_by_device[call.callee] = true;
  std::vector<FunctionId> wanted;
  for (FunctionId i = 0; i < count; ++i) {
    if (!program.functions[i].is_kernel) continue;
    const bool asked_for = kernels.Wants(program.symbols[program.functions[i].symbol]);
    const bool wants = keep_all || asked_for;
    (wants || used_by_device[i] ? result.kernels : result.left_out).push_back(i);
    if (asked_for) {
      wanted.push_back(i);
    } else if (keep_all && !used_by_device[i]) {
      result.unfollowed.push_back(i);
    }
  }
  FindWhatOneLoses(program, graph, keep_all, wanted, rules, result);
  result.left_out_keep_names = kernels.ByHostReferences();

  if (keep_all) {
    result.live.assign(count, true);
  } else {
    const std::vector<bool> reached =
        ReachableFrom(graph, wanted.size() == 1 && rules.as_nvlink ? wanted : result.kernels);
    result.live.assign(reached.begin(), reached.begin() + count);
    for (const FunctionId kernel : result.kernels) result.live[kernel] = true;
    KeepForOthers(program, graph, rules, result);
  }
  result.section_removed.reserve(program.sections.size());
  for (const Section& section : program.sections) {
    result.section_removed.push_back(GoesWith(program, result.live, section));
  }
  return result;
}

NamedFunctions FindFunctions(const Program& program, std::span<const std::string> names) {
  NamedFunctions out;
  if (names.empty()) return out;
  base::HashMap<std::string_view, bool> wanted;  // whether it was found
  for (const std::string& name : names) wanted.try_emplace(name, false);
  for (const Symbol& symbol : program.symbols) {
    if (symbol.section == kNone || symbol.type == format::kSttSection) continue;
    const auto found = wanted.find(symbol.name);
    if (found == wanted.end()) continue;
    found->second = true;
    if (symbol.function != kNone) out.functions.push_back(symbol.function);
  }
  for (const std::string& name : names) {
    if (!wanted[name]) out.missing.push_back(name);
  }
  return out;
}

}  // namespace devlink::internal
