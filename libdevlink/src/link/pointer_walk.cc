// SPDX-License-Identifier: Apache-2.0
#include "link/pointer_walk.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <tuple>

#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

// Nodes of the call graph, and behind them the symbols of variables.
class Walk {
 public:
  Walk(const Program& program, const CallGraph& graph, const std::vector<bool>& taken)
      : program_(program), graph_(graph), taken_(taken) {
    CollectVariables();
    CollectPointers();
  }

  std::vector<bool> From(const std::vector<bool>& roots) const {
    std::vector<bool> met(graph_.node_count() + program_.symbols.size(), false);
    std::vector<NodeId> work;
    const auto meet = [&](NodeId node) {
      if (!met[node]) work.push_back(node);
      met[node] = true;
    };
    for (FunctionId i = 0; i < roots.size(); ++i) {
      if (roots[i]) meet(i);
    }
    while (!work.empty()) {
      const NodeId node = work.back();
      work.pop_back();
      if (node < graph_.node_count()) {
        for (const NodeId target : graph_.Successors(node)) meet(target);
      }
      for (const Pointer& pointer : PointersOf(node)) meet(pointer.target);
    }
    met.resize(graph_.function_count());
    return met;
  }

 private:
  struct Variable {
    SectionId section = kNone;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    SymbolId symbol = kNone;
  };
  struct Pointer {
    NodeId holder = kNone;
    NodeId target = kNone;
  };

  // In memory that is no function's own.
  [[nodiscard]] bool IsOfVariables(SectionId id) const {
    const Section& section = program_.sections[id];
    return section.function == kNone && format::HoldsVariables(section.kind);
  }

  void CollectVariables() {
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.section == kNone || symbol.type == format::kSttSection) continue;
      if (!IsOfVariables(symbol.section)) continue;
      variables_.push_back({symbol.section, symbol.value, symbol.value + symbol.size, id});
    }
    std::ranges::sort(variables_, {}, [](const Variable& variable) {
      return std::tuple(variable.section, variable.begin, variable.symbol);
    });
  }

  // kNone where none lies there.
  [[nodiscard]] NodeId VariableAt(SectionId section, std::uint64_t offset) const {
    const auto behind = std::ranges::upper_bound(
        variables_, std::tuple(section, offset), {},
        [](const Variable& variable) { return std::tuple(variable.section, variable.begin); });
    if (behind == variables_.begin()) return kNone;
    const Variable& variable = *std::prev(behind);
    if (variable.section != section || offset >= variable.end) return kNone;
    return NodeOf(variable.symbol);
  }

  [[nodiscard]] NodeId NodeOf(SymbolId variable) const { return graph_.node_count() + variable; }

  [[nodiscard]] NodeId HolderOf(const Relocation& relocation) const {
    const Section& section = program_.sections[relocation.section];
    if (section.kind == SectionKind::kDebug) return kNone;
    if (section.function != kNone) return section.function;
    if (!IsOfVariables(relocation.section)) return kNone;
    return VariableAt(relocation.section, relocation.offset);
  }

  [[nodiscard]] NodeId TargetOf(const Relocation& relocation) const {
    const Symbol& symbol = program_.symbols[relocation.symbol];
    if (symbol.function != kNone) return taken_[symbol.function] ? symbol.function : kNone;
    if (symbol.section == kNone || !IsOfVariables(symbol.section)) return kNone;
    if (symbol.type != format::kSttSection) return NodeOf(relocation.symbol);
    return VariableAt(symbol.section, static_cast<std::uint64_t>(relocation.addend));
  }

  void CollectPointers() {
    for (const Relocation& relocation : program_.relocations) {
      const NodeId target = TargetOf(relocation);
      if (target == kNone) continue;
      const NodeId holder = HolderOf(relocation);
      if (holder != kNone) pointers_.push_back({holder, target});
    }
    std::ranges::sort(pointers_, {}, &Pointer::holder);
  }

  [[nodiscard]] std::span<const Pointer> PointersOf(NodeId holder) const {
    const auto those = std::ranges::equal_range(pointers_, holder, {}, &Pointer::holder);
    return {those.begin(), those.end()};
  }

  const Program& program_;
  const CallGraph& graph_;
  const std::vector<bool>& taken_;
  std::vector<Variable> variables_;  // by place
  std::vector<Pointer> pointers_;    // by holder
};

}  // namespace

std::vector<bool> ReachedByPointers(const Program& program, const CallGraph& graph,
                                    const std::vector<bool>& roots,
                                    const std::vector<bool>& taken) {
  return Walk(program, graph, taken).From(roots);
}

}  // namespace devlink::internal
