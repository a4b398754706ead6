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
  // The values of `extern x[]` are alignments that its place keeps; an empty kernel's memory is
  // then as large as that, and others are rounded up to their own alignment (ToolkitProfile).
  bool align_external = false;
  bool reserve_null_pointer = false;  // and no place is 0
  bool global_instances = false;      // the weak symbols of kernels stand among the global ones
};

// Nothing is placed: of the result only `partial`, and the sizes of the kernels' own sections.
SharedLayout LayOutSharedPartial(const Program& program, const Liveness& liveness,
                                 const PartialSharedOptions& options);

}  // namespace devlink::internal
