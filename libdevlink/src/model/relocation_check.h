// SPDX-License-Identifier: Apache-2.0
//
// What a cubin's relocations say, held against their sections and the table of types.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "model/module.h"
#include "model/wrong_part.h"

namespace devlink::internal {

// A list of relocations is named as what it relocates, and each of them has a known type, a field
// that lies there, and a symbol that a reference can name. Of known forms are lists with types of
// their kind of section, each field once, and in code of instructions that can have them. What is
// wrong; empty where nothing is.
// `index` is the list's number among `sections`, which are the view's; its symbols need not have
// been checked. `code_may_lack_any` tells whether a list about code may be empty.
std::string WrongInRelocations(const ModuleView& view, std::span<const InputSection> sections,
                               std::uint32_t index, Forms forms,
                               absl::FunctionRef<bool()> code_may_lack_any);

}  // namespace devlink::internal
