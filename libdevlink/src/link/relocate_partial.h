// SPDX-License-Identifier: Apache-2.0
//
// Pass 9 of a relocatable link (nvlink -r): relocations of a program that will be linked again.
#pragma once

#include "link/liveness.h"
#include "link/relocate.h"
#include "link/shared_partial.h"

namespace devlink::internal {

struct RelocatePartialOptions {
  // Every relocation stays, those to section symbols moved to where the contribution now begins.
  // Otherwise shared and constant variables are resolved to what nvlink takes for their values,
  // though the next link lays them out (docs/relocatable.md).
  bool keep_references = false;
  // Those to shared variables stay in any case.
  bool keep_shared = false;
  // The file has two views: Relocated::constant_uses is filled, and references to line tables of
  // machine code, which are written anew, stay.
  bool two_views = false;
};

Relocated RelocatePartial(const Program& program, const Liveness& liveness,
                          const PartialSharedLayout& shared, const RelocatePartialOptions& options);

}  // namespace devlink::internal
