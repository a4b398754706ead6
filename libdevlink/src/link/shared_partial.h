// SPDX-License-Identifier: Apache-2.0
//
// Pass 4 of a relocatable link (nvlink -r): what the output says of shared memory, which the next
// link lays out (docs/relocatable.md).
#pragma once

#include "link/liveness.h"
#include "link/shared_layout.h"
#include "model/program.h"

namespace devlink::internal {

struct PartialSharedOptions {
  bool debug = false;
  // Give `extern __shared__` of a kernel a place behind its variables, as nvlink does, although
  // the next link does so too.
  bool place_external = false;
  bool reserve_null_pointer = false;  // and no place is 0
};

// Nothing is placed: of the result only `partial`, and the sizes of the kernels' own sections.
SharedLayout LayOutSharedPartial(const Program& program, const Liveness& liveness,
                                 const PartialSharedOptions& options);

}  // namespace devlink::internal
