// SPDX-License-Identifier: Apache-2.0
//
// First pass over an input: its functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash_table.h"
#include "base/name_hash.h"
#include "merge/findings.h"
#include "merge/function_constants.h"
#include "merge/input_state.h"
#include "merge/kernel_sections.h"
#include "merge/program_builder.h"
#include "merge/replaced_bodies.h"
#include "model/kernel_selection.h"

namespace devlink::internal {

class FunctionMerge {
 public:
  // All borrowed.
  FunctionMerge(ProgramBuilder& builder, InputState& input, MergeFindings& findings,
                ReplacedBodies& replaced, FunctionConstants& constants,
                KernelSections& kernel_sections, const KernelSelection& kernels,
                bool joins_static_kernels)
      : builder_(builder),
        program_(builder.program),
        input_(input),
        findings_(findings),
        replaced_(replaced),
        constants_(constants),
        kernel_sections_(kernel_sections),
        kernels_(kernels),
        joins_static_kernels_(joins_static_kernels) {}

  // Gives every function of the input its symbol, and the code that stays its section.
  void Run();

 private:
  void MergeFunction(std::uint32_t index, const InputSymbol& symbol);
  void MergePart(std::uint32_t index, const InputSymbol& part);
  void CheckPart(const InputSymbol& part);
  void MergeAliased(const InputSymbol& alias);
  void ReferTo(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void Define(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void MergeSecondDefinition(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void ReplaceBody(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void ForgetBody(SymbolId symbol, bool by_strong_copy);
  void Check(SymbolId known, const InputSymbol& symbol);
  [[nodiscard]] bool HasOddBank(SymbolId known, const InputSymbol& symbol) const;
  void MarkOddBank(SymbolId kernel, const InputSymbol& symbol);
  void CompareWithStatic(SymbolId kernel, const InputSymbol& symbol);

  ProgramBuilder& builder_;
  Program& program_;
  InputState& input_;
  MergeFindings& findings_;
  ReplacedBodies& replaced_;
  FunctionConstants& constants_;
  KernelSections& kernel_sections_;
  const KernelSelection& kernels_;
  const bool joins_static_kernels_;             // as nvlink does, which goes by their names
  std::vector<std::uint32_t> arch_of_first_;    // virtual, by FunctionId: of the first copy
  std::vector<std::uint32_t> sized_functions_;  // code section -> its function; made when needed
  base::HashMap<std::string_view, std::uint64_t, base::NameHash>
      static_banks_;  // of each name the first one's size
};

}  // namespace devlink::internal
