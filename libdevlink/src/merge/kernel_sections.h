// SPDX-License-Identifier: Apache-2.0
//
// What every kernel has, whether or not its module says so: attributes and shared memory of its
// own.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash_table.h"
#include "merge/input_state.h"
#include "merge/program_builder.h"

namespace devlink::internal {

class KernelSections {
 public:
  KernelSections(ProgramBuilder& builder, InputState& input)
      : builder_(builder), program_(builder.program), input_(input) {}

  // Of a kernel that `symbol` of the input defines.
  void Add(FunctionId function, const InputSymbol& symbol);
  // Lets the input's shared memory of the code section `text` stand for the section `shared`.
  void MapShared(std::uint32_t text, SectionId shared, bool take_alignment);
  // Shared memory of a kernel that got none when it was defined, as nobody asked for it; or of one
  // whose copy was discarded, for which nvlink makes room all the same.
  void MapLocals(std::uint32_t index);
  // With -r nvlink makes shared memory of each kernel whose code names an `extern x[]`, at the end.
  void AddForExternals();

 private:
  SectionId AddShared(FunctionId function, std::string_view name);
  void AddUnnamed(const InputSection& section, SectionId shared);

  ProgramBuilder& builder_;
  Program& program_;
  InputState& input_;
  // Kernels that nobody asked for and whose discarded copies had shared memory: nvlink makes a
  // section for it that belongs to none.
  base::HashSet<FunctionId> unowned_shared_;
};

}  // namespace devlink::internal
