// SPDX-License-Identifier: Apache-2.0
#include "link/liveness.h"

#include <algorithm>
#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/sections.h"

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

// What stays is followed to where pointers lead, which the code and the variables that stay have.
class PointerWalk {
 public:
  PointerWalk(const Program& program, const CallGraph& graph, const Liveness& liveness)
      : program_(program), graph_(graph), liveness_(liveness) {}

  // All that is come to. Nothing where no function whose address is taken calls what goes.
  std::vector<bool> Run() {
    if (!IsWorthIt()) return {};
    CollectPointers();
    std::vector<bool> met(graph_.node_count(), false);
    std::vector<NodeId> work;
    const auto meet = [&](NodeId node) {
      if (!met[node]) work.push_back(node);
      met[node] = true;
    };
    for (FunctionId i = 0; i < liveness_.live.size(); ++i) {
      if (liveness_.live[i]) meet(i);
    }
    for (const Pointer& pointer : PointersOf(kNone)) meet(pointer.target);
    while (!work.empty()) {
      const NodeId node = work.back();
      work.pop_back();
      for (const NodeId target : graph_.Successors(node)) meet(target);
      for (const Pointer& pointer : PointersOf(node)) meet(pointer.target);
    }
    return met;
  }

 private:
  [[nodiscard]] bool IsWorthIt() const {
    return std::ranges::any_of(program_.addresses_taken, [this](const PrototypeUse& use) {
      const auto callees = graph_.DirectCallees(use.function);
      return std::ranges::any_of(callees, [this](NodeId node) { return !liveness_.live[node]; });
    });
  }

  struct Pointer {
    FunctionId holder = kNone;  // a function, in its code or constants; none: a variable
    FunctionId target = kNone;
    friend auto operator<=>(const Pointer&, const Pointer&) = default;
  };

  void CollectPointers() {
    for (const Relocation& relocation : program_.relocations) {
      const FunctionId target = program_.symbols[relocation.symbol].function;
      if (target == kNone || !liveness_.address_taken[target]) continue;
      const Section& section = program_.sections[relocation.section];
      if (section.kind == SectionKind::kText || format::HoldsVariables(section.kind)) {
        pointers_.push_back({section.function, target});
      }
    }
    std::ranges::sort(pointers_);
  }

  [[nodiscard]] std::span<const Pointer> PointersOf(NodeId holder) const {
    const auto those = std::ranges::equal_range(pointers_, holder, {}, &Pointer::holder);
    return {those.begin(), those.end()};
  }

  const Program& program_;
  const CallGraph& graph_;
  const Liveness& liveness_;
  std::vector<Pointer> pointers_;  // sorted
};

// `met` is what a PointerWalk came to.
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
  if (!rules.as_nvlink) met = PointerWalk(program, graph, result).Run();
  for (const PrototypeUse& use : program.addresses_taken) {
    result.live[use.function] = true;
    for (const FunctionId callee : graph.DirectCallees(use.function)) {
      if (!program.IsDefined(callee)) result.live[callee] = true;
    }
  }
  if (!met.empty()) KeepBehindPointers(program, met, result);
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
  // Of one kernel nvlink follows the calls, and of no other that stays; what that would lose is not
  // lost here.
  const bool one = wanted.size() == 1;
  if (one &&
      (rules.as_nvlink || result.kernels.size() == 1 || NoneLost(program, graph, result, wanted))) {
    result.single_kernel = wanted.front();
  }
  if (one && rules.as_nvlink && !keep_all) {
    for (const FunctionId kernel : result.kernels) {
      if (kernel != wanted.front()) result.unfollowed.push_back(kernel);
    }
  }
  result.keeps_lost =
      one && !rules.as_nvlink &&
      std::any_of(result.kernels.begin(), result.kernels.end(), [&](FunctionId kernel) {
        return kernel != wanted.front() && !graph.Successors(kernel).empty();
      });
  result.left_out_keep_names = kernels.ByHostReferences();

  if (keep_all) {
    result.live.assign(count, true);
  } else {
    const std::vector<bool> reached =
        ReachableFrom(graph, one && rules.as_nvlink ? wanted : result.kernels);
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
