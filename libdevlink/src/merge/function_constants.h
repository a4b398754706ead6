// SPDX-License-Identifier: Apache-2.0
//
// Constants of one function: parameters (bank 0) and what the compiler keeps beside its code.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/sections.h"
#include "merge/input_state.h"
#include "merge/program_builder.h"
#include "merge/replaced_bodies.h"

namespace devlink::internal {

inline std::uint8_t BankNumberOf(const InputSection& section) {
  return static_cast<std::uint8_t>(format::BankOfType(section.type));
}

class FunctionConstants {
 public:
  // `keeps_discarded`: over jump tables of discarded copies in what was linked with -r NVIDIA's
  // tools end with internal errors, from sm_100 on.
  FunctionConstants(ProgramBuilder& builder, InputState& input, ReplacedBodies& replaced,
                    bool relocatable, bool keeps_discarded)
      : builder_(builder),
        program_(builder.program),
        input_(input),
        replaced_(replaced),
        relocatable_(relocatable),
        keeps_discarded_(keeps_discarded) {}

  // The first of that name, for whichever body it was made: nvlink looks no further. It does so
  // with kernels, too, and gives them two banks; here it is the last one.
  [[nodiscard]] SectionId Find(const Function& function, std::string_view name) const;

  // Gives a section of the input its place. Those of a discarded copy stay all the same
  // (`keeps_discarded`), unused, behind those of the copy that stays; the parameter bank does so
  // only where a strong copy met a weak one. `by_variable`: for the sake of one that lies in the
  // section.
  void Map(std::uint32_t index, bool by_variable);

  // Of a function's constants nvlink takes what variables cover. nvlink -r leaves more than that
  // where it appended those of a copy that it discarded.
  void Trim();

  // The body that they belong to is replaced.
  void Empty(const Function& function, bool by_strong_copy);

 private:
  void Append(SectionId id, std::uint32_t index, std::uint64_t offset);
  SectionId Add(const InputSection& section, SectionId text);

  ProgramBuilder& builder_;
  Program& program_;
  InputState& input_;
  ReplacedBodies& replaced_;
  const bool relocatable_;
  const bool keeps_discarded_;
};

}  // namespace devlink::internal
