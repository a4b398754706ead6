// SPDX-License-Identifier: Apache-2.0
//
// Pass 8: attributes that travel from callees to kernels, and the lists of undefined functions.
//
// nvlink treats a link with exactly one kernel in another way than one with more: then everything
// that is alive counts, reached or not, and what is appended comes in a fixed order instead of the
// order in which it is met (docs/cubin-format.md, "Attributes that travel").
#pragma once

#include <cstdint>
#include <vector>

#include "devlink/toolkit_profile.h"
#include "link/call_graph.h"
#include "link/liveness.h"

namespace devlink::internal {

// What one function's `.nv.info.F` becomes, as far as it differs from the input.
struct FunctionAttributes {
  struct Value {
    std::uint8_t format = 0;
    std::uint8_t id = 0;
    std::uint16_t value = 0;
  };
  std::vector<Value> replaced;  // records that stay in place with another value
  // New records, in order; EXTERNS and lists of words among them have none.
  std::vector<Value> appended;
  std::vector<SymbolId> externs;  // empty: the record goes
  bool externs_in_place = true;   // where the input has it, else as `appended` says
  // Of LANGUAGE, in place or appended; empty: as the input has it.
  std::vector<std::uint32_t> languages;
  // The same of AT_ENTRY_FRAGMENTS, which other functions lose to the kernels that reach them.
  std::vector<std::uint32_t> fragments;
  bool fragments_in_place = true;  // where the input has them, else as `appended` says
  bool loses_fragments = false;
  bool keeps_barrier_flags = false;  // code's flags say its barriers, as its input had it
};

struct Attributes {
  std::vector<FunctionAttributes> functions;  // by FunctionId
  // Kernels that use tensor memory both alone and in pairs of blocks, which is an error.
  std::vector<FunctionId> mixing_cta_groups;
};

Attributes PropagateAttributes(const Program& program, const CallGraph& graph,
                               const Liveness& liveness, const ToolkitProfile& profile);

// Of a program that is to be linked again: attributes stay where they are, and so do the functions
// in EXTERNS that are still undefined.
Attributes KeepAttributes(const Program& program, const CallGraph& graph, const Liveness& liveness);

// The barriers of a function as its input states them, and of a kernel as the output does: for
// reports.
std::uint32_t OwnBarriersOf(const Program& program, FunctionId function);
std::uint32_t BarriersOf(const Program& program, const Attributes& attributes, FunctionId kernel);

}  // namespace devlink::internal
