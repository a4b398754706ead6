// SPDX-License-Identifier: Apache-2.0
//
// Inputs for the finalizer that do not have some functions at all: libnvJitLink takes half a
// millisecond for one of a thousand, however little code it has.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bounded_reader.h"
#include "finalize/needed_code.h"
#include "model/module.h"

namespace devlink::internal {

// `file` without the code sections of these names, what belongs to them, and what the rest says of
// them. It is the module's, where sections may have other places and bytes, and is borrowed.
// Nothing where one of them is needed by what stays (NeededCode tells), or has not the form that is
// known.
std::optional<std::vector<std::uint8_t>> WithoutFunctions(const Module& module, base::Bytes file,
                                                          const CodeNames& names);

}  // namespace devlink::internal
