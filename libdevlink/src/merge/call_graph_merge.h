// SPDX-License-Identifier: Apache-2.0
//
// The call graph (`.nv.callgraph`) and how functions are called (`.nv.prototype`).
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/hash_table.h"
#include "format/call_graph_records.h"
#include "merge/findings.h"
#include "merge/input_state.h"
#include "merge/program_builder.h"

namespace devlink::internal {

class CallGraphMerge {
 public:
  CallGraphMerge(ProgramBuilder& builder, const InputState& input, MergeFindings& findings,
                 bool relocatable)
      : builder_(builder),
        program_(builder.program),
        input_(input),
        findings_(findings),
        relocatable_(relocatable) {}

  void TakeCalls(const InputSection& section);
  void TakePrototypes(const InputSection& section);
  // Once all inputs are through: the last word on a function whose address is taken counts.
  void Settle();

 private:
  bool IsFirst(FunctionId function, std::vector<bool>& met) const;
  void TakeAddress(FunctionId function);
  void NotePointed(FunctionId function, std::uint32_t prototype);
  void Lose(const InputSection& section, std::uint32_t symbol);

  ProgramBuilder& builder_;
  Program& program_;
  const InputState& input_;
  MergeFindings& findings_;
  const bool relocatable_;
  std::vector<bool> address_taken_;  // by FunctionId: already in Program::addresses_taken
  std::vector<bool> pointed_;        // already in Program::pointed_functions
  // Of relocatable links: pairs so far (list, caller, callee). Two bodies of one function may have
  // the same, which nvlink then keeps once.
  base::HashSet<std::tuple<format::CallGraphList, FunctionId, FunctionId>> edges_;
};

}  // namespace devlink::internal
