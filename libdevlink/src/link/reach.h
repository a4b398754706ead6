// SPDX-License-Identifier: Apache-2.0
//
// Which of a few things (shared variables, compiler constants, undefined functions...) each kernel
// comes to use through the functions it reaches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/hash_table.h"
#include "link/call_graph.h"
#include "link/kernel_set.h"

namespace devlink::internal {

// `function` has `item`; `key` orders the items that a kernel finds.
struct OwnItem {
  FunctionId function = kNone;
  std::uint32_t item = 0;
  std::uint64_t key = 0;
};

struct ReachedItem {
  std::uint32_t item = 0;
  std::uint64_t key = 0;  // smallest of all items that were found
  friend bool operator==(const ReachedItem&, const ReachedItem&) = default;
};

// What one of the roots and everything it reaches hold, by ascending item; gone after the call. Of
// very many items a root finds some in each of several calls, the lower ones first.
using ReachedItemsVisitor =
    absl::FunctionRef<void(std::uint32_t root, std::span<const ReachedItem> found)>;

// Calls `visit` for each of `roots` that finds something, by its place there, in an order that
// depends on the graph only. One sweep over the components for all items that fit into a bounded
// memory; a component that adds nothing to what one callee found shares the callee's set, and the
// last user of a set takes it over instead of copying it.
void VisitReachable(const CallGraph& graph, std::span<const OwnItem> own_items,
                    std::span<const FunctionId> roots, ReachedItemsVisitor visit);

// The other way round: for each item that is found, the places in `roots` of those that find it.
base::HashMap<std::uint32_t, KernelSet> UsersOfItems(const CallGraph& graph,
                                                     std::span<const OwnItem> own_items,
                                                     std::span<const FunctionId> roots);

// The same as a list for each of `roots`, where all of them are needed at a time.
std::vector<std::vector<ReachedItem>> CollectReachable(const CallGraph& graph,
                                                       std::span<const OwnItem> own_items,
                                                       std::span<const FunctionId> roots);

}  // namespace devlink::internal
