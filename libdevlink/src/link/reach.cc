// SPDX-License-Identifier: Apache-2.0
#include "link/reach.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/hash_table.h"

namespace devlink::internal {

namespace {

using ItemMap = base::HashMap<std::uint32_t, std::uint64_t>;
using SharedMap = std::shared_ptr<ItemMap>;

void Put(ItemMap& map, std::uint32_t item, std::uint64_t key) {
  const auto [place, inserted] = map.try_emplace(item, key);
  if (!inserted) place->second = std::min(place->second, key);
}

class Sweep {
 public:
  Sweep(const CallGraph& graph, std::span<const FunctionId> roots)
      : graph_(graph),
        sets_(graph.component_count()),
        calls_(graph.component_count(), 0),
        own_(graph.component_count()),
        roots_of_(graph.component_count()) {
    for (NodeId node = 0; node < graph.node_count(); ++node) {
      for (const NodeId target : graph.Successors(node)) {
        if (graph.ComponentOf(target) != graph.ComponentOf(node)) {
          ++calls_[graph.ComponentOf(target)];
        }
      }
    }
    for (std::uint32_t i = 0; i < roots.size(); ++i) {
      roots_of_[graph_.ComponentOf(roots[i])].push_back(i);
    }
  }

  void Run(std::span<const OwnItem> own_items, ReachedItemsVisitor visit) {
    for (const OwnItem& own_item : own_items) {
      own_[graph_.ComponentOf(own_item.function)].push_back(own_item);
    }
    waiting_ = calls_;
    std::vector<ReachedItem> found;
    for (ComponentId component = 0; component < graph_.component_count(); ++component) {
      sets_[component] = Join(component);
      if (sets_[component] != nullptr && !roots_of_[component].empty()) {
        found.clear();
        for (const auto& [item, key] : *sets_[component]) found.push_back({item, key});
        std::sort(found.begin(), found.end(),
                  [](const ReachedItem& a, const ReachedItem& b) { return a.item < b.item; });
        for (const std::uint32_t root : roots_of_[component]) visit(root, found);
      }
      if (waiting_[component] == 0) sets_[component].reset();
      own_[component].clear();
    }
  }

 private:
  // The union of what a component holds itself and of what its callees found.
  SharedMap Join(ComponentId component) {
    std::vector<SharedMap> parts;
    base::HashSet<const ItemMap*> seen;
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
    for (const OwnItem& own_item : own_[component]) Put(*result, own_item.item, own_item.key);
    return result;
  }

  const CallGraph& graph_;
  std::vector<SharedMap> sets_;
  std::vector<std::uint32_t> calls_;    // from other components
  std::vector<std::uint32_t> waiting_;  // of those, the ones that will still ask for the set
  std::vector<std::vector<OwnItem>> own_;
  std::vector<std::vector<std::uint32_t>> roots_of_;
};

// Where every component has a set of its own, all of them may be there at a time. So many items are
// looked for in one sweep that they still fit into a bounded memory.
constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;
constexpr std::uint64_t kBytesOfItem = 32;  // in a map that is about to grow

std::uint64_t ItemsAtATime(const CallGraph& graph) {
  const std::uint64_t components = std::max<std::uint64_t>(graph.component_count(), 1);
  return std::max<std::uint64_t>(kMemory / kBytesOfItem / components, 16);
}

}  // namespace

void VisitReachable(const CallGraph& graph, std::span<const OwnItem> own_items,
                    std::span<const FunctionId> roots, ReachedItemsVisitor visit) {
  if (own_items.empty()) return;
  Sweep sweep(graph, roots);
  const std::uint64_t at_a_time = ItemsAtATime(graph);
  if (own_items.size() <= at_a_time) return sweep.Run(own_items, visit);
  std::vector<OwnItem> sorted(own_items.begin(), own_items.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const OwnItem& a, const OwnItem& b) { return a.item < b.item; });
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin;
    for (std::uint64_t items = 0; end < sorted.size(); ++end) {
      const bool is_new = end == begin || sorted[end].item != sorted[end - 1].item;
      if (is_new && ++items > at_a_time) break;
    }
    sweep.Run(std::span(sorted).subspan(begin, end - begin), visit);
    begin = end;
  }
}

base::HashMap<std::uint32_t, KernelSet> UsersOfItems(const CallGraph& graph,
                                                     std::span<const OwnItem> own_items,
                                                     std::span<const FunctionId> roots) {
  std::vector<std::uint32_t> items;
  items.reserve(own_items.size());
  for (const OwnItem& own_item : own_items) items.push_back(own_item.item);
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  // By number rather than in a table: every root asks for every item that it reaches.
  std::vector<std::uint32_t> place_of(items.empty() ? 0 : std::size_t{items.back()} + 1);
  for (std::uint32_t i = 0; i < items.size(); ++i) place_of[items[i]] = i;
  std::vector<KernelSet> sets(items.size());
  VisitReachable(graph, own_items, roots,
                 [&](std::uint32_t root, std::span<const ReachedItem> found) {
                   for (const ReachedItem& use : found)
                     sets[place_of[use.item]].Add(root, roots.size());
                 });
  base::HashMap<std::uint32_t, KernelSet> users;
  users.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (sets[i].size() != 0) users.try_emplace(items[i], std::move(sets[i]));
  }
  return users;
}

std::vector<std::vector<ReachedItem>> CollectReachable(const CallGraph& graph,
                                                       std::span<const OwnItem> own_items,
                                                       std::span<const FunctionId> roots) {
  std::vector<std::vector<ReachedItem>> results(roots.size());
  VisitReachable(graph, own_items, roots,
                 [&](std::uint32_t root, std::span<const ReachedItem> found) {
                   results[root].insert(results[root].end(), found.begin(), found.end());
                 });
  return results;
}

}  // namespace devlink::internal
