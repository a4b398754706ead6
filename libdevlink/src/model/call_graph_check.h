// SPDX-License-Identifier: Apache-2.0
//
// What a cubin's call graph says, held against its code.
#pragma once

#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "model/module.h"

namespace devlink::internal {

// The call graph decides which functions stay, and how many registers and how much stack a kernel
// needs. It has its lists in order, and each call in code stands in them; in an assembler's files,
// though not in what -r joins, also each address of a function that code takes (from CUDA 12.2 on),
// a function whose address is taken has a prototype there, and every other one that links can see
// has it in `.nv.prototype`. What is wrong; empty where nothing is, and where there is no call
// graph. docs/cubin-format.md ("Call graph and prototypes") says how this was found.
//
// To be asked of a view of machine code whose sections and symbols were checked; `sections` are the
// view's. `from_assembler` tells whether an assembler made the file, `toolkit` of which release
// (10 * major + minor).
std::string WrongInCallGraph(const ModuleView& view, std::span<const InputSection> sections,
                             absl::FunctionRef<bool()> from_assembler, std::uint16_t toolkit);

}  // namespace devlink::internal
