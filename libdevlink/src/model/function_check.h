// SPDX-License-Identifier: Apache-2.0
//
// What a view says of each function, held against the functions that it has.
#pragma once

#include <span>

#include "format/sm_traits.h"
#include "model/module.h"
#include "model/wrong_part.h"

namespace devlink::internal {

// Each function with code has attributes of its own, one number of registers, one frame and one
// stack, and a kernel of machine code one bank of parameters; nothing else has any of that.
// `sections` are the view's, each of which has been found sound by itself; `traits` are those of
// what the file is for.
WrongSymbol WrongInFunctions(const ModuleView& view, std::span<const InputSection> sections,
                             const format::SmTraits& traits);

}  // namespace devlink::internal
