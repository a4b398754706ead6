// SPDX-License-Identifier: Apache-2.0
#include "link/reach.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace devlink::internal {

namespace {

using ItemMap = absl::flat_hash_map<std::uint32_t, std::uint64_t>;
using SharedMap = std::shared_ptr<ItemMap>;

void Put(ItemMap& map, std::uint32_t item, std::uint64_t key) {
  const auto [entry, inserted] = map.try_emplace(item, key);
  if (!inserted) entry->second = std::min(entry->second, key);
}

class Sweep {
 public:
  Sweep(const CallGraph& graph, std::span<const Holding> holdings)
      : graph_(graph), sets_(graph.component_count()), waiting_(graph.component_count(), 0) {
    own_.resize(graph.component_count());
    for (const Holding& holding : holdings) {
      own_[graph.ComponentOf(holding.function)].push_back(holding);
    }
    // How many calls will still ask for each component's set.
    for (NodeId node = 0; node < graph.node_count(); ++node) {
      for (const NodeId target : graph.Successors(node)) {
        if (graph.ComponentOf(target) != graph.ComponentOf(node))
          ++waiting_[graph.ComponentOf(target)];
      }
    }
  }

  void Run(std::span<const FunctionId> roots, ReachVisitor visit) {
    std::vector<Found> found;
    std::vector<std::vector<std::uint32_t>> roots_of(graph_.component_count());
    for (std::uint32_t i = 0; i < roots.size(); ++i) {
      roots_of[graph_.ComponentOf(roots[i])].push_back(i);
    }
    for (ComponentId component = 0; component < graph_.component_count(); ++component) {
      sets_[component] = Join(component);
      if (sets_[component] != nullptr && !roots_of[component].empty()) {
        found.clear();
        for (const auto& [item, key] : *sets_[component]) found.push_back({item, key});
        std::sort(found.begin(), found.end(),
                  [](const Found& a, const Found& b) { return a.item < b.item; });
        for (const std::uint32_t root : roots_of[component]) visit(root, found);
      }
      if (waiting_[component] == 0) sets_[component].reset();
    }
  }

 private:
  // The union of what a component holds itself and of what its callees found.
  SharedMap Join(ComponentId component) {
    std::vector<SharedMap> parts;
    absl::flat_hash_set<const ItemMap*> seen;
    for (const NodeId node : graph_.Members(component)) {
      for (const NodeId target : graph_.Successors(node)) {
        const ComponentId callee = graph_.ComponentOf(target);
        if (callee == component) continue;
        SharedMap set = sets_[callee];
        if (--waiting_[callee] == 0) sets_[callee].reset();
        if (set != nullptr && seen.insert(set.get()).second) parts.push_back(std::move(set));
      }
    }
    if (parts.empty() && own_[component].empty()) return nullptr;
    if (parts.size() == 1 && own_[component].empty()) return parts.front();
    SharedMap result;
    if (parts.empty()) {
      result = std::make_shared<ItemMap>();
    } else {
      const auto largest = std::max_element(
          parts.begin(), parts.end(),
          [](const SharedMap& a, const SharedMap& b) { return a->size() < b->size(); });
      std::swap(*largest, parts.back());
      result = std::move(parts.back());
      parts.pop_back();
      if (result.use_count() > 1) result = std::make_shared<ItemMap>(*result);
      for (const SharedMap& part : parts) {
        for (const auto& [item, key] : *part) Put(*result, item, key);
      }
    }
    for (const Holding& holding : own_[component]) Put(*result, holding.item, holding.key);
    return result;
  }

  const CallGraph& graph_;
  std::vector<SharedMap> sets_;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::vector<Holding>> own_;
};

}  // namespace

void VisitReachable(const CallGraph& graph, std::span<const Holding> holdings,
                    std::span<const FunctionId> roots, ReachVisitor visit) {
  if (!holdings.empty()) Sweep(graph, holdings).Run(roots, visit);
}

std::vector<std::vector<Found>> CollectReachable(const CallGraph& graph,
                                                 std::span<const Holding> holdings,
                                                 std::span<const FunctionId> roots) {
  std::vector<std::vector<Found>> results(roots.size());
  VisitReachable(graph, holdings, roots, [&](std::uint32_t root, std::span<const Found> found) {
    results[root].assign(found.begin(), found.end());
  });
  return results;
}

}  // namespace devlink::internal
