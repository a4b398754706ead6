// SPDX-License-Identifier: Apache-2.0
//
// Lists of host code that name kernels which are not there. nvlink says nothing of them; beside
// kernels that are left out because no list names them, they are likely to be damaged.
#pragma once

#include <optional>

#include "devlink/diagnostics.h"
#include "link/liveness.h"
#include "model/kernel_selection.h"
#include "model/program.h"

namespace devlink::internal {

// A note where the host code of the inputs refers to kernels that no input has, and others were
// left out.
std::optional<Diagnostic> NoteUnmatchedReferences(const Program& program, const Liveness& liveness,
                                                  const KernelSelection& kernels);

}  // namespace devlink::internal
