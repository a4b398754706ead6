// SPDX-License-Identifier: Apache-2.0
//
// What a cubin's call graph says, held against its code.
#pragma once

#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "model/module.h"

namespace devlink::internal {

// The call graph decides which functions stay, and how many registers and how much stack a kernel
// needs. It has its lists in order; each call and each address of a function in code stands in
// them. In an assembler's files, though not in what -r joins, a function whose address is taken has
// a prototype there, and every other one that links can see has it in `.nv.prototype`. What is
// wrong; empty where nothing is, and where there is no call graph. docs/cubin-format.md ("Call
// graph and prototypes") says how this was found.
//
// To be asked of a view of machine code whose sections and symbols were checked; `sections` are the
// view's. `from_assembler` tells whether an assembler made the file.
std::string_view WrongInCallGraph(const ModuleView& view, std::span<const InputSection> sections,
                                  absl::FunctionRef<bool()> from_assembler);

}  // namespace devlink::internal
