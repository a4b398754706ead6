// SPDX-License-Identifier: Apache-2.0
//
// What debuggers and profilers read of a view.
#pragma once

#include <span>

#include "absl/functional/function_ref.h"
#include "model/module.h"
#include "model/wrong_part.h"

namespace devlink::internal {

// The records of `.debug_frame` fill it, and each of a function has a relocation that says of
// which, where an assembler wrote the file; -r drops those of bodies that are gone. `sections` are
// a view's, with lists of relocations that have been found sound.
WrongSection WrongInFrames(std::span<const InputSection> sections,
                           absl::FunctionRef<bool()> from_assembler);

}  // namespace devlink::internal
