// SPDX-License-Identifier: Apache-2.0
//
// Second pass over an input: its variables.
#pragma once

#include <cstdint>
#include <vector>

#include "format/elf_cuda.h"
#include "merge/data_sections.h"
#include "merge/findings.h"
#include "merge/function_constants.h"
#include "merge/input_state.h"
#include "merge/program_builder.h"
#include "merge/replaced_bodies.h"

namespace devlink::internal {

class ObjectMerge {
 public:
  // All borrowed.
  ObjectMerge(ProgramBuilder& builder, InputState& input, MergeFindings& findings,
              ReplacedBodies& replaced, DataSections& data, FunctionConstants& constants,
              bool relocatable, bool mends_sizes)
      : builder_(builder),
        program_(builder.program),
        input_(input),
        findings_(findings),
        replaced_(replaced),
        data_(data),
        constants_(constants),
        relocatable_(relocatable),
        mends_sizes_(mends_sizes) {}

  // Gives every variable of the input its symbol, and sections that hold new ones their place.
  void Run();
  // Once all inputs are known: common variables come at the end of `.nv.global`, the last one
  // first.
  void AllocateCommons();
  // What the system keeps of shared memory, when all is there: the strictest alignment first.
  void LayOutReserved();

 private:
  void MergeObject(std::uint32_t index, const InputSymbol& symbol);
  void PlaceReserved(SymbolId id, std::uint64_t align);
  void ReferToTexture(std::uint32_t index, const InputSymbol& symbol);
  void ReferTo(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void MergeCommon(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void MakeCommon(SymbolId id, const InputSymbol& symbol);
  void CheckSizes(SymbolId known, const InputSymbol& symbol);
  [[nodiscard]] bool IsInit(const InputSymbol& symbol) const;
  [[nodiscard]] bool NumbersConstants() const;
  [[nodiscard]] bool IsPlacedExternal(const InputSymbol& symbol) const;
  void Discard(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void KeepParameterSymbol(std::uint32_t index, const InputSymbol& symbol);
  [[nodiscard]] bool IsOfDiscardedCode(std::uint32_t section) const;
  void Define(std::uint32_t index, const InputSymbol& symbol, SymbolId known,
              const SectionMapping& mapping);
  void Check(SymbolId known, const InputSymbol& symbol);
  // nvlink knows variables by a type of its own until it writes an executable.
  [[nodiscard]] std::uint8_t TypeOf(const InputSymbol& symbol) const {
    return relocatable_ || format::IsTextureType(symbol.type) ? symbol.type : format::kSttObject;
  }

  ProgramBuilder& builder_;
  Program& program_;
  InputState& input_;
  MergeFindings& findings_;
  ReplacedBodies& replaced_;
  DataSections& data_;
  FunctionConstants& constants_;
  const bool relocatable_;
  const bool mends_sizes_;  // of sections that a variable of 4 GiB and more does not fit
  std::uint32_t constants_numbered_ = 0;  // of the input, by partial links
  std::vector<SymbolId> reserved_;        // of executables
  SymbolId tensor_memory_ = kNone;        // what is kept for it, in one of two ways
};

}  // namespace devlink::internal
