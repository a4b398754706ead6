// SPDX-License-Identifier: Apache-2.0
#include "link/reach.h"

#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::testing {
namespace {

using internal::CallGraph;
using internal::CollectReachable;
using internal::FunctionId;
using internal::ReachedItem;

using Lists = std::vector<std::vector<ReachedItem>>;

TEST_CASE("A kernel finds what it and its callees hold, each once", "[reach]") {
  ProgramBuilder builder;
  const FunctionId k = builder.AddFunction(true);
  const FunctionId f = builder.AddFunction();
  const FunctionId g = builder.AddFunction();
  builder.AddCall(k, f);
  builder.AddCall(k, g);
  builder.AddCall(f, g);
  const CallGraph graph(builder.program);
  const std::vector<FunctionId> roots = {k};
  CHECK(CollectReachable(graph, std::vector<internal::OwnItem>{{k, 7, 0}, {g, 5, 0}}, roots) ==
        Lists{{{5, 0}, {7, 0}}});
}

TEST_CASE("Of an item that several hold the smallest key counts", "[reach]") {
  ProgramBuilder builder;
  const FunctionId k = builder.AddFunction(true);
  const FunctionId f = builder.AddFunction();
  builder.AddCall(k, f);
  const CallGraph graph(builder.program);
  const std::vector<FunctionId> roots = {k};
  CHECK(CollectReachable(graph, std::vector<internal::OwnItem>{{k, 1, 9}, {f, 1, 4}}, roots) ==
        Lists{{{1, 4}}});
}

TEST_CASE("Kernels find what is theirs, and nothing where they reach nothing", "[reach]") {
  ProgramBuilder builder;
  const FunctionId k = builder.AddFunction(true);
  const FunctionId l = builder.AddFunction(true);
  const FunctionId m = builder.AddFunction(true);
  const FunctionId f = builder.AddFunction();
  builder.AddCall(k, f);
  builder.AddCall(l, f);
  const CallGraph graph(builder.program);
  const std::vector<FunctionId> roots = {k, l, m};
  CHECK(CollectReachable(graph, std::vector<internal::OwnItem>{{f, 1, 0}, {l, 2, 0}}, roots) ==
        Lists{{{1, 0}}, {{1, 0}, {2, 0}}, {}});
}

TEST_CASE("All of a circle find the same", "[reach]") {
  ProgramBuilder builder;
  const FunctionId k = builder.AddFunction(true);
  const FunctionId l = builder.AddFunction(true);
  const FunctionId f = builder.AddFunction();
  const FunctionId g = builder.AddFunction();
  builder.AddCall(k, f);
  builder.AddCall(f, g);
  builder.AddCall(g, f);
  builder.AddCall(l, g);
  const CallGraph graph(builder.program);
  const std::vector<FunctionId> roots = {k, l};
  CHECK(CollectReachable(graph, std::vector<internal::OwnItem>{{f, 1, 0}, {g, 2, 0}}, roots) ==
        Lists{{{1, 0}, {2, 0}}, {{1, 0}, {2, 0}}});
}

}  // namespace
}  // namespace devlink::testing
