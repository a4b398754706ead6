// SPDX-License-Identifier: Apache-2.0
//
// Relocations, moved to where sections now begin.
#pragma once

#include <cstdint>

#include "format/elf_cuda.h"
#include "merge/findings.h"
#include "merge/input_state.h"
#include "merge/program_builder.h"

namespace devlink::internal {

class RelocationMerge {
 public:
  // `writes_phantom_rel_names`: of the toolkit (ToolkitProfile).
  RelocationMerge(ProgramBuilder& builder, InputState& input, MergeFindings& findings,
                  bool writes_phantom_rel_names)
      : builder_(builder),
        program_(builder.program),
        input_(input),
        findings_(findings),
        writes_phantom_rel_names_(writes_phantom_rel_names) {}

  // Takes over a list of the input, but for what lies in or refers to copies that were discarded.
  void Run(std::uint32_t index);

 private:
  [[nodiscard]] bool KeepsTableOf(std::uint32_t section) const;
  [[nodiscard]] bool MovesSection(const format::Rela& relocation) const;
  // `section`: of the input, that the relocation applies to.
  [[nodiscard]] bool IsOfDuplicate(const format::Rela& relocation, std::uint32_t section) const;
  [[nodiscard]] bool IsDiscarded(const format::Rela& relocation, std::uint32_t section) const;
  [[nodiscard]] bool IsToSecondCopy(const format::Rela& relocation) const;
  [[nodiscard]] bool IsOfDiscarded(const format::Rela& relocation,
                                   const SectionMapping& target) const;
  // Code or data without what it refers to would be wrong; debug records are read with care.
  void Lose(const format::Rela& relocation, const SectionMapping& target);
  void Take(const format::Rela& relocation, SectionId list, const SectionMapping& target);

  ProgramBuilder& builder_;
  Program& program_;
  InputState& input_;
  MergeFindings& findings_;
  const bool writes_phantom_rel_names_;
};

}  // namespace devlink::internal
