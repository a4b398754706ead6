// SPDX-License-Identifier: Apache-2.0
//
// Which output section a data section of an input becomes part of, and where.
#pragma once

#include <cstdint>
#include <optional>

#include "merge/constant_packing.h"
#include "merge/findings.h"
#include "merge/function_constants.h"
#include "merge/input_state.h"
#include "merge/kernel_sections.h"
#include "merge/program_builder.h"

namespace devlink::internal {

class DataSections {
 public:
  DataSections(ProgramBuilder& builder, InputState& input, MergeFindings& findings,
               FunctionConstants& constants, KernelSections& kernels)
      : builder_(builder),
        program_(builder.program),
        input_(input),
        findings_(findings),
        constants_(constants),
        kernels_(kernels) {}

  // Appends a whole data section of the input to the output section of the same name.
  // `by_variable`: for the sake of one that lies in the section.
  void Map(std::uint32_t index, bool by_variable);
  // The same for one of debug records.
  void MapDebug(std::uint32_t index);
  // `extern __shared__ x[]` is taken for a variable of all files.
  void MapExternalShared();

  // Where nvlink would have packed the last piece of `.nv.constant3`.
  [[nodiscard]] std::optional<std::uint64_t> last_packed_constant() const {
    return packing_.last();
  }
  // Gives `.nv.constant3` the bytes that nvlink packs, at places that no code knows of.
  void PackConstants();

 private:
  // Sections are joined by name; those that hold something else cannot be.
  void CheckSameKind(const InputSection& section, SectionId known);

  ProgramBuilder& builder_;
  Program& program_;
  InputState& input_;
  MergeFindings& findings_;
  FunctionConstants& constants_;
  KernelSections& kernels_;
  ConstantPacking packing_;
};

}  // namespace devlink::internal
