// SPDX-License-Identifier: Apache-2.0
//
// Attributes: `.nv.info` of the whole program and `.nv.info.F` of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/findings.h"
#include "merge/input_state.h"
#include "merge/program_builder.h"

namespace devlink::internal {

class AttributeMerge {
 public:
  AttributeMerge(ProgramBuilder& builder, const InputState& input, MergeFindings& findings)
      : builder_(builder), program_(builder.program), input_(input), findings_(findings) {}

  // Takes over the records of a section of the input; those of discarded copies are left out.
  void Run(std::uint32_t index);

 private:
  void TakeRecords(const InputSection& section, SectionId target);
  void Lose(const InputSection& section, std::uint32_t symbol);

  ProgramBuilder& builder_;
  Program& program_;
  const InputState& input_;
  MergeFindings& findings_;
  std::vector<AttributeRecord> taken_;  // of the section in hand
};

}  // namespace devlink::internal
