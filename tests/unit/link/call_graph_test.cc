// SPDX-License-Identifier: Apache-2.0
#include "link/call_graph.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "link/liveness.h"
#include "link/reach.h"
#include "link/resources.h"
#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::testing {
namespace {

using internal::CallGraph;
using internal::FunctionId;
using internal::NodeId;

constexpr std::uint32_t kDeep = 200'000;

void AddFunctions(ProgramBuilder& builder, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) builder.AddFunction();
}

// What holds for every graph: components partition the nodes, callees come before callers.
void CheckOrder(const CallGraph& graph) {
  std::vector<int> seen(graph.node_count(), 0);
  bool consistent = true;
  for (internal::ComponentId c = 0; c < graph.component_count(); ++c) {
    for (const NodeId node : graph.Members(c)) {
      ++seen[node];
      consistent = consistent && graph.ComponentOf(node) == c;
    }
  }
  for (NodeId node = 0; node < graph.node_count(); ++node) {
    for (const NodeId target : graph.Successors(node)) {
      consistent = consistent && graph.ComponentOf(target) <= graph.ComponentOf(node);
    }
  }
  CHECK(consistent);
  CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
}

TEST_CASE("A program without functions has an empty graph", "[link]") {
  const ProgramBuilder builder;
  const CallGraph graph(builder.program);
  CHECK(graph.node_count() == 0);
  CHECK(graph.component_count() == 0);
  CHECK(internal::ReachableFrom(graph, {}).empty());
}

TEST_CASE("Direct callees come last arrived first", "[link]") {
  ProgramBuilder builder;
  AddFunctions(builder, 4);
  builder.AddCall(0, 1);
  builder.AddCall(0, 3);
  builder.AddCall(0, 2);
  builder.program.indirect_callers.push_back({0, 1});
  builder.program.addresses_taken.push_back({3, 1});
  const CallGraph graph(builder.program);
  const auto callees = graph.DirectCallees(0);
  CHECK(std::vector<NodeId>(callees.begin(), callees.end()) == std::vector<NodeId>{2, 3, 1});
  CHECK(graph.Successors(0).size() == 4);  // and the hub
  CHECK(graph.node_count() == 5);
  CheckOrder(graph);
}

TEST_CASE("Components of cycles, self calls and chains", "[link]") {
  ProgramBuilder builder;
  AddFunctions(builder, 7);
  // 0 -> 1 -> 2 -> 0, 2 -> 3, 3 -> 3, 4 -> 5, 6 alone
  for (const auto& [from, to] : std::vector<std::pair<FunctionId, FunctionId>>{
           {0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 3}, {4, 5}}) {
    builder.AddCall(from, to);
  }
  const CallGraph graph(builder.program);
  CheckOrder(graph);
  CHECK(graph.component_count() == 5);
  CHECK(graph.ComponentOf(0) == graph.ComponentOf(1));
  CHECK(graph.ComponentOf(0) == graph.ComponentOf(2));
  CHECK(graph.IsCyclic(graph.ComponentOf(0)));
  CHECK(graph.IsCyclic(graph.ComponentOf(3)));
  CHECK(graph.ComponentOf(3) < graph.ComponentOf(0));
  CHECK_FALSE(graph.IsCyclic(graph.ComponentOf(4)));
  CHECK_FALSE(graph.IsCyclic(graph.ComponentOf(6)));
}

TEST_CASE("A hub makes a cycle through a pointer", "[link]") {
  ProgramBuilder builder;
  AddFunctions(builder, 3);
  builder.program.indirect_callers.push_back({0, 7});
  builder.program.addresses_taken.push_back({1, 7});
  builder.program.addresses_taken.push_back({2, 9});  // another prototype: not called
  builder.AddCall(1, 0);
  const CallGraph graph(builder.program);
  CheckOrder(graph);
  CHECK(graph.ComponentOf(0) == graph.ComponentOf(1));
  CHECK(graph.IsCyclic(graph.ComponentOf(0)));
  const auto reached = internal::ReachableFrom(graph, std::vector<FunctionId>{0});
  CHECK(reached[1]);
  CHECK_FALSE(reached[2]);
}

TEST_CASE("Callers and callees of one prototype cost their sum", "[link]") {
  constexpr std::uint32_t kEach = 20'000;
  ProgramBuilder builder;
  AddFunctions(builder, 2 * kEach);
  for (std::uint32_t i = 0; i < kEach; ++i) {
    builder.program.indirect_callers.push_back({i, 3});
    builder.program.addresses_taken.push_back({kEach + i, 3});
  }
  const CallGraph graph(builder.program);
  CHECK(graph.node_count() == 2 * kEach + 1);
  const auto reached = internal::ReachableFrom(graph, std::vector<FunctionId>{0});
  CHECK(std::count(reached.begin(), reached.begin() + 2 * kEach, true) >= kEach);
}

TEST_CASE("A chain of 200,000 functions fits every stack", "[link]") {
  ProgramBuilder builder;
  builder.AddFunction(true);
  AddFunctions(builder, kDeep - 1);
  for (std::uint32_t i = 0; i + 1 < kDeep; ++i) builder.AddCall(i, i + 1);
  builder.SetResources(kDeep - 1, 40, 8);
  const bool closed = GENERATE(false, true);
  if (closed) builder.AddCall(kDeep - 1, 0);
  const CallGraph graph(builder.program);
  CHECK(graph.component_count() == (closed ? 1 : kDeep));
  const auto live = internal::FindLiveFunctions(builder.program, graph, false);
  CHECK(std::all_of(live.live.begin(), live.live.end(), [](bool b) { return b; }));
  const auto resources = internal::PropagateResources(builder.program, graph, live);
  REQUIRE(resources.kernels.size() == 1);
  CHECK(resources.kernels[0].registers == 40);
  CHECK(resources.kernels[0].stack.has_value() == !closed);
  const std::vector<internal::OwnItem> own_items = {{kDeep - 1, 5, 9}};
  const auto found = internal::CollectReachable(graph, own_items, live.kernels);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == std::vector<internal::ReachedItem>{{5, 9}});
}

// --- CollectReachable against following every path -----------------------------------------------

std::vector<internal::ReachedItem> Naive(const CallGraph& graph,
                                         const std::vector<internal::OwnItem>& own_items,
                                         FunctionId root) {
  std::vector<bool> seen(graph.node_count(), false);
  std::vector<NodeId> stack = {root};
  seen[root] = true;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    for (const NodeId target : graph.Successors(node)) {
      if (!seen[target]) {
        seen[target] = true;
        stack.push_back(target);
      }
    }
  }
  std::map<std::uint32_t, std::uint64_t> items;
  for (const internal::OwnItem& h : own_items) {
    if (!seen[h.function]) continue;
    const auto [it, inserted] = items.try_emplace(h.item, h.key);
    if (!inserted) it->second = std::min(it->second, h.key);
  }
  std::vector<internal::ReachedItem> out;
  for (const auto& [item, key] : items) out.push_back({item, key});
  return out;
}

TEST_CASE("CollectReachable finds what following every path finds", "[link]") {
  std::mt19937 random(20240607);  // the same graphs on every machine
  const auto below = [&random](std::uint32_t n) {
    return static_cast<std::uint32_t>(random() % n);
  };
  for (int round = 0; round < 300; ++round) {
    ProgramBuilder builder;
    const std::uint32_t count = 1 + below(40);
    for (std::uint32_t i = 0; i < count; ++i) builder.AddFunction(below(3) == 0);
    for (std::uint32_t i = below(3 * count); i > 0; --i)
      builder.AddCall(below(count), below(count));
    for (std::uint32_t i = below(count); i > 0; --i) {
      builder.program.indirect_callers.push_back({below(count), below(3)});
      builder.program.addresses_taken.push_back({below(count), below(3)});
    }
    std::vector<internal::OwnItem> own_items;
    for (std::uint32_t i = below(2 * count); i > 0; --i) {
      own_items.push_back({below(count), below(12), below(100)});
    }
    const CallGraph graph(builder.program);
    CheckOrder(graph);
    std::vector<FunctionId> roots;
    for (FunctionId i = 0; i < count; ++i) {
      if (builder.program.functions[i].is_kernel) roots.push_back(i);
    }
    const auto found = internal::CollectReachable(graph, own_items, roots);
    REQUIRE(found.size() == roots.size());
    const auto reachable = internal::ReachableFrom(graph, roots);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      CAPTURE(round, i);
      CHECK(found[i] == Naive(graph, own_items, roots[i]));
    }
  }
}

TEST_CASE("CollectReachable without own_items or roots", "[link]") {
  ProgramBuilder builder;
  AddFunctions(builder, 2);
  const CallGraph graph(builder.program);
  CHECK(internal::CollectReachable(graph, {}, std::vector<FunctionId>{0, 1}).size() == 2);
  const std::vector<internal::OwnItem> own_items = {{0, 1, 1}};
  CHECK(internal::CollectReachable(graph, own_items, {}).empty());
  // One function as a root twice.
  const auto found = internal::CollectReachable(graph, own_items, std::vector<FunctionId>{0, 0});
  REQUIRE(found.size() == 2);
  CHECK(found[0] == found[1]);
}

// --- resources and liveness ----------------------------------------------------------------------

TEST_CASE("A diamond takes its deeper side", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  const auto left = builder.AddFunction();
  const auto right = builder.AddFunction();
  const auto bottom = builder.AddFunction();
  for (const auto side : {left, right}) {
    builder.AddCall(k, side);
    builder.AddCall(side, bottom);
  }
  builder.SetResources(k, 10, 100);
  builder.SetResources(left, 64, 8);
  builder.SetResources(right, 20, 32);
  builder.SetResources(bottom, 30, 4);
  const CallGraph graph(builder.program);
  const auto live = internal::FindLiveFunctions(builder.program, graph, false);
  const auto resources = internal::PropagateResources(builder.program, graph, live);
  REQUIRE(resources.kernels.size() == 1);
  CHECK(resources.kernels[0].registers == 64);
  CHECK(resources.kernels[0].stack == std::optional<std::uint32_t>(136));
  CHECK(resources.frames[right] == 32);
}

TEST_CASE("Recursion leaves the stack open for those who reach it only", "[link]") {
  ProgramBuilder builder;
  const auto reaches = builder.AddFunction(true);
  const auto other = builder.AddFunction(true);
  const auto loop = builder.AddFunction();
  const auto leaf = builder.AddFunction();
  builder.AddCall(reaches, loop);
  builder.AddCall(loop, loop);
  builder.AddCall(other, leaf);
  builder.SetResources(loop, 50, 16);
  builder.SetResources(leaf, 12, 24);
  const CallGraph graph(builder.program);
  const auto live = internal::FindLiveFunctions(builder.program, graph, false);
  const auto resources = internal::PropagateResources(builder.program, graph, live);
  REQUIRE(resources.kernels.size() == 2);
  CHECK_FALSE(resources.kernels[0].stack.has_value());
  CHECK(resources.kernels[0].registers == 50);
  CHECK(resources.kernels[1].stack == std::optional<std::uint32_t>(24));
}

TEST_CASE("What no entry reaches goes, unless its address is taken or all is kept", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  const auto used = builder.AddFunction();
  const auto dead = builder.AddFunction();
  const auto taken = builder.AddFunction();
  const auto under_taken = builder.AddFunction();
  const auto undefined = builder.AddFunction(false, false);
  builder.AddCall(k, used);
  builder.AddCall(dead, used);
  builder.AddCall(taken, under_taken);
  builder.AddCall(taken, undefined);
  builder.program.addresses_taken.push_back({taken, 1});
  const CallGraph graph(builder.program);
  const auto live = internal::FindLiveFunctions(builder.program, graph, false);
  CHECK(live.kernels == std::vector<FunctionId>{k});
  CHECK(live.live == std::vector<bool>{true, true, false, true, false, true});
  CHECK(live.address_taken[taken]);
  CHECK(live.section_removed[builder.program.functions[dead].text]);
  CHECK_FALSE(live.section_removed[builder.program.functions[used].text]);
  CHECK_FALSE(live.section_removed[builder.program.module_info]);
  const auto all = internal::FindLiveFunctions(builder.program, graph, true);
  CHECK(std::count(all.live.begin(), all.live.end(), true) == 6);
  CHECK(std::count(all.section_removed.begin(), all.section_removed.end(), true) == 0);
  CHECK_FALSE(live.live[under_taken]);
  CHECK(live.live[undefined]);
}

}  // namespace
}  // namespace devlink::testing
