// SPDX-License-Identifier: Apache-2.0
//
// Pass 2: who calls whom, condensed.
//
// nvlink follows every path from every kernel, which takes it seconds where paths are many. Here
// strongly connected components are found once (Tarjan), and whatever has to travel from callees to
// callers travels in one sweep over them. A call through a pointer can reach every function whose
// address is taken under the same prototype; each prototype is a node of its own ("hub"), so that
// callers and callees of one prototype cost their sum, not their product.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/program.h"

namespace devlink::internal {

using NodeId = std::uint32_t;       // functions first, then hubs
using ComponentId = std::uint32_t;  // callees have lower numbers than their callers

class CallGraph {
 public:
  // `unfollowed`: functions whose calls do not count.
  explicit CallGraph(const Program& program, std::span<const FunctionId> unfollowed = {});

  [[nodiscard]] std::span<const NodeId> Successors(NodeId node) const {
    return {targets_.data() + first_[node], first_[node + 1] - first_[node]};
  }
  // Functions called directly, in the order of `.nv.callgraph`: last arrived first.
  [[nodiscard]] std::span<const NodeId> DirectCallees(FunctionId function) const {
    return {targets_.data() + first_[function], direct_[function]};
  }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(first_.size()) - 1;
  }
  [[nodiscard]] std::uint32_t function_count() const {
    return static_cast<std::uint32_t>(direct_.size());
  }
  [[nodiscard]] ComponentId ComponentOf(NodeId node) const { return component_[node]; }
  [[nodiscard]] std::uint32_t component_count() const {
    return static_cast<std::uint32_t>(cyclic_.size());
  }
  [[nodiscard]] std::span<const NodeId> Members(ComponentId component) const {
    return {members_.data() + first_member_[component],
            first_member_[component + 1] - first_member_[component]};
  }
  // True where a member can come to call itself.
  [[nodiscard]] bool IsCyclic(ComponentId component) const { return cyclic_[component]; }

 private:
  void AddEdges(const Program& program, std::span<const FunctionId> unfollowed);
  void FindComponents();

  std::vector<std::uint32_t> first_;  // by node: first successor in targets_
  std::vector<NodeId> targets_;
  std::vector<std::uint32_t> direct_;  // by function: how many successors are direct callees
  std::vector<ComponentId> component_;
  std::vector<NodeId> members_;
  std::vector<std::uint32_t> first_member_;
  std::vector<bool> cyclic_;
};

// Every function that can run, `from` included where the graph leads back. One walk, linear.
std::vector<bool> ReachableFrom(const CallGraph& graph, std::span<const FunctionId> from);

}  // namespace devlink::internal
