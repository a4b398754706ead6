// SPDX-License-Identifier: Apache-2.0
#include "link/liveness.h"

#include <algorithm>
#include <cstddef>
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

  // All that is come to; nothing where no function calls anything that goes whose address is taken.
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
    for (const FunctionId target : PointersOf(kNone)) meet(target);
    while (!work.empty()) {
      const NodeId node = work.back();
      work.pop_back();
      for (const NodeId target : graph_.Successors(node)) meet(target);
      for (const FunctionId target : PointersOf(node)) meet(target);
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

  // By who has them: a function's code and constants, or a variable (kNone).
  void CollectPointers() {
    std::vector<std::pair<FunctionId, FunctionId>> found;
    for (const Relocation& relocation : program_.relocations) {
      const FunctionId target = program_.symbols[relocation.symbol].function;
      if (target == kNone || !liveness_.address_taken[target]) continue;
      const Section& section = program_.sections[relocation.section];
      if (section.kind == SectionKind::kText || format::HoldsVariables(section.kind)) {
        found.emplace_back(section.function, target);
      }
    }
    std::ranges::sort(found);
    for (const auto& [holder, target] : found) {
      holders_.push_back(holder);
      targets_.push_back(target);
    }
  }

  [[nodiscard]] std::span<const FunctionId> PointersOf(NodeId holder) const {
    const auto those = std::ranges::equal_range(holders_, holder);
    return std::span(targets_).subspan(static_cast<std::size_t>(those.begin() - holders_.begin()),
                                       those.size());
  }

  const Program& program_;
  const CallGraph& graph_;
  const Liveness& liveness_;
  std::vector<FunctionId> holders_;  // of one pointer each, sorted
  std::vector<FunctionId> targets_;  // of the same pointers
};

bool IsMissing(const Program& program, FunctionId function) {
  const Symbol& symbol = program.symbols[program.functions[function].symbol];
  return !program.IsDefined(function) && !symbol.weak_reference &&
         symbol.binding != format::kStbLocal && !format::IsSystemCall(symbol.name);
}

// `met` is what a PointerWalk came to.
void KeepBehindPointers(const Program& program, const std::vector<bool>& met, Liveness& result) {
  for (FunctionId i = 0; i < result.live.size(); ++i) {
    if (!met[i] || result.live[i]) continue;
    if (program.IsDefined(i)) result.behind_pointers.push_back(i);
    if (result.missing_behind_pointers == kNone && IsMissing(program, i)) {
      result.missing_behind_pointers = i;
    }
    if (!result.loses_behind_pointers) result.live[i] = true;
  }
  if (result.behind_pointers.empty()) return;
  for (const PrototypeUse& use : program.addresses_taken) {
    if (met[use.function]) result.pointed.push_back(use.function);
  }
}

// What stays without a kernel: all that `also` come to, and what a pointer leads to.
void KeepForOthers(const Program& program, const CallGraph& graph, bool as_nvlink,
                   std::span<const FunctionId> also, Liveness& result) {
  const auto count = static_cast<FunctionId>(result.live.size());
  if (!also.empty()) {
    const std::vector<bool> asked_for = ReachableFrom(graph, also);
    for (FunctionId i = 0; i < count; ++i) {
      if (asked_for[i]) result.live[i] = true;
    }
  }
  std::vector<bool> pointed;
  if (!as_nvlink) pointed = PointerWalk(program, graph, result).Run();
  for (const PrototypeUse& use : program.addresses_taken) {
    result.live[use.function] = true;
    for (const FunctionId callee : graph.DirectCallees(use.function)) {
      if (!program.IsDefined(callee)) result.live[callee] = true;
    }
  }
  if (!pointed.empty()) KeepBehindPointers(program, pointed, result);
}

}  // namespace

Liveness FindLiveFunctions(const Program& program, const CallGraph& graph, bool keep_all,
                           const KernelSelection& kernels, bool as_nvlink,
                           std::span<const FunctionId> also, bool loses_behind_pointers) {
  const auto count = static_cast<FunctionId>(program.functions.size());
  Liveness result;
  result.loses_behind_pointers = loses_behind_pointers;
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
      (as_nvlink || result.kernels.size() == 1 || NoneLost(program, graph, result, wanted))) {
    result.single_kernel = wanted.front();
  }
  if (one && as_nvlink && !keep_all) {
    for (const FunctionId kernel : result.kernels) {
      if (kernel != wanted.front()) result.unfollowed.push_back(kernel);
    }
  }
  result.keeps_lost =
      one && !as_nvlink &&
      std::any_of(result.kernels.begin(), result.kernels.end(), [&](FunctionId kernel) {
        return kernel != wanted.front() && !graph.Successors(kernel).empty();
      });
  result.left_out_keep_names = kernels.ByHostReferences();

  if (keep_all) {
    result.live.assign(count, true);
  } else {
    const std::vector<bool> reached =
        ReachableFrom(graph, one && as_nvlink ? wanted : result.kernels);
    result.live.assign(reached.begin(), reached.begin() + count);
    for (const FunctionId kernel : result.kernels) result.live[kernel] = true;
    KeepForOthers(program, graph, as_nvlink, also, result);
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
