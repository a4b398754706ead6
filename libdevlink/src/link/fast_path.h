// SPDX-License-Identifier: Apache-2.0
//
// For which relatives of its target the code of a link may be finalized on the fast path (tag 0b of
// `.nv.compat`, from sm_100 on).
#pragma once

#include <cstdint>
#include <span>

#include "link/liveness.h"
#include "model/program.h"

namespace devlink::internal {

// What all functions that stay have in common; 0 where there are none. `masks` are the inputs' own.
// ptxas says it of a file, nvlink knows it of a function: of a file that says that not all of its
// code may go to sm_103, functions without double-precision arithmetic are taken to be those that
// may, where others have some (docs/mercury.md, "Compatibility").
std::uint64_t CommonFastPath(const Program& sass, const Liveness& liveness,
                             std::span<const std::uint64_t> masks);

}  // namespace devlink::internal
