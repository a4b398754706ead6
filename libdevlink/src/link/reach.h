// SPDX-License-Identifier: Apache-2.0
//
// Which of a few things (shared variables, compiler constants, undefined functions...) each entry
// comes to use through the functions it reaches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "link/call_graph.h"

namespace devlink::internal {

// `function` has `item`; `key` orders the items that an entry finds.
struct Holding {
  FunctionId function = kNone;
  std::uint32_t item = 0;
  std::uint64_t key = 0;
};

struct Found {
  std::uint32_t item = 0;
  std::uint64_t key = 0;  // smallest of all holdings that were found
  friend bool operator==(const Found&, const Found&) = default;
};

// For each of `roots`, what it and everything it reaches hold, by ascending item. One sweep over
// the components; a component that adds nothing to what one callee found shares the callee's set,
// and the last user of a set takes it over instead of copying it.
std::vector<std::vector<Found>> CollectReachable(const CallGraph& graph,
                                                 std::span<const Holding> holdings,
                                                 std::span<const FunctionId> roots);

}  // namespace devlink::internal
