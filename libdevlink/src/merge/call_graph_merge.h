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

  void Begin();
  void TakeCalls(const InputSection& section);
  void TakePrototypes(const InputSection& section);
  // Once the input's sections are through: addresses of discarded copies that its functions take.
  void End();
  // Once all inputs are through: the last word on a function whose address is taken counts.
  void SettlePrototypes();

 private:
  void TakeAddress(FunctionId function);
  void Lose(const InputSection& section, std::uint32_t symbol);

  ProgramBuilder& builder_;
  Program& program_;
  const InputState& input_;
  MergeFindings& findings_;
  const bool relocatable_;
  std::vector<bool> address_taken_;  // by FunctionId: already in Program::addresses_taken
  // Of relocatable links: pairs so far (list, caller, callee). Two bodies of one function may have
  // the same, which nvlink then keeps once.
  base::HashSet<std::tuple<format::CallGraphList, FunctionId, FunctionId>> edges_;
  // Of the input in hand.
  std::vector<bool> taken_by_function_;            // functions whose address a function takes
  std::vector<std::uint32_t> taken_of_discarded_;  // symbols
};

}  // namespace devlink::internal
