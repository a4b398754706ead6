// SPDX-License-Identifier: Apache-2.0
//
// What a cubin's attributes say, held against their kinds and the sections they are about.
#pragma once

#include <cstdint>
#include <span>

#include "model/module.h"
#include "model/wrong_part.h"

namespace devlink::internal {

// A section of attributes has records of the form that their kinds have, which name symbols and
// places in code that exist; those of a kernel say where its parameters lie and how large they are
// as often as they say it, and as the parameters' section is. Of known forms a function has its
// attributes once, and a kernel those of kernels. `index` is the section's number among
// `sections`, which are the view's; a function's attributes have been found to belong to code.
WrongSection WrongInAttributes(const ModuleView& view, std::span<const InputSection> sections,
                               std::uint32_t index, Forms forms);

}  // namespace devlink::internal
