// SPDX-License-Identifier: Apache-2.0
#include "link/call_graph.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "base/hash_table.h"

namespace devlink::internal {

CallGraph::CallGraph(const Program& program, std::span<const FunctionId> unfollowed) {
  AddEdges(program, unfollowed);
  FindComponents();
}

void CallGraph::AddEdges(const Program& program, std::span<const FunctionId> unfollowed) {
  const auto functions = static_cast<std::uint32_t>(program.functions.size());
  std::vector<bool> calls_count(functions, true);
  for (const FunctionId function : unfollowed) calls_count[function] = false;
  base::HashMap<std::uint32_t, NodeId> hubs;
  const auto hub_of = [&](std::uint32_t prototype) {
    return hubs.try_emplace(prototype, functions + static_cast<NodeId>(hubs.size())).first->second;
  };
  struct Edge {
    NodeId from;
    NodeId to;
  };
  // Direct calls first, last arrived first, so that each function's direct callees come in that
  // order before its hubs.
  std::vector<Edge> edges;
  edges.reserve(program.calls.size() + program.indirect_callers.size() +
                program.addresses_taken.size());
  for (auto call = program.calls.rbegin(); call != program.calls.rend(); ++call) {
    if (calls_count[call->caller]) edges.push_back({call->caller, call->callee});
  }
  for (const PrototypeUse& use : program.indirect_callers) {
    if (calls_count[use.function]) edges.push_back({use.function, hub_of(use.prototype)});
  }
  for (const PrototypeUse& use : program.addresses_taken) {
    edges.push_back({hub_of(use.prototype), use.function});
  }

  const std::uint32_t nodes = functions + static_cast<std::uint32_t>(hubs.size());
  first_.assign(nodes + 1, 0);
  direct_.assign(functions, 0);
  for (const Edge& edge : edges) ++first_[edge.from + 1];
  for (const CallEdge& call : program.calls) direct_[call.caller] += calls_count[call.caller];
  for (std::uint32_t i = 0; i < nodes; ++i) first_[i + 1] += first_[i];
  targets_.resize(edges.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const Edge& edge : edges) targets_[next[edge.from]++] = edge.to;
}

// Tarjan's algorithm with a stack of its own: a call chain may be longer than the thread's.
void CallGraph::FindComponents() {
  const std::uint32_t nodes = node_count();
  component_.assign(nodes, kNone);
  members_.reserve(nodes);
  first_member_.reserve(nodes + std::size_t{1});
  cyclic_.reserve(nodes);
  struct Visit {
    std::uint32_t order = kNone;
    std::uint32_t low = 0;
    std::uint32_t next = 0;  // in targets_
  };
  // Most programs are small.
  constexpr std::size_t kFew = 16;
  absl::InlinedVector<Visit, kFew> visits(nodes);
  for (NodeId node = 0; node < nodes; ++node) visits[node].next = first_[node];
  absl::InlinedVector<NodeId, kFew> open;
  open.reserve(nodes);
  absl::InlinedVector<NodeId, kFew> path;
  path.reserve(nodes);
  std::uint32_t counter = 0;

  for (NodeId root = 0; root < nodes; ++root) {
    if (visits[root].order != kNone) continue;
    path.push_back(root);
    while (!path.empty()) {
      const NodeId node = path.back();
      Visit& visit = visits[node];
      if (visit.order == kNone) {
        visit.order = visit.low = counter++;
        open.push_back(node);
      }
      if (visit.next < first_[node + 1]) {
        const NodeId target = targets_[visit.next++];
        if (visits[target].order == kNone) {
          path.push_back(target);
        } else if (component_[target] == kNone) {
          visit.low = std::min(visit.low, visits[target].order);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        std::uint32_t& low = visits[path.back()].low;
        low = std::min(low, visit.low);
      }
      if (visit.low != visit.order) continue;
      const auto component = static_cast<ComponentId>(cyclic_.size());
      first_member_.push_back(static_cast<std::uint32_t>(members_.size()));
      NodeId member = kNone;
      do {
        member = open.back();
        open.pop_back();
        component_[member] = component;
        members_.push_back(member);
      } while (member != node);
      bool cyclic = members_.size() - first_member_.back() > 1;
      for (const NodeId target : Successors(node)) cyclic = cyclic || target == node;
      cyclic_.push_back(cyclic);
    }
  }
  first_member_.push_back(static_cast<std::uint32_t>(members_.size()));
}

std::vector<bool> ReachableFrom(const CallGraph& graph, std::span<const FunctionId> from) {
  std::vector<bool> seen(graph.node_count(), false);
  absl::InlinedVector<NodeId, 16> work;
  for (const FunctionId function : from) {
    if (!seen[function]) work.push_back(function);
    seen[function] = true;
  }
  while (!work.empty()) {
    const NodeId node = work.back();
    work.pop_back();
    for (const NodeId target : graph.Successors(node)) {
      if (seen[target]) continue;
      seen[target] = true;
      work.push_back(target);
    }
  }
  return seen;
}

}  // namespace devlink::internal
