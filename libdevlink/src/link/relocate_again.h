// SPDX-License-Identifier: Apache-2.0
//
// Pass 9 of a relocatable link (nvlink -r): relocations of a program that will be linked again.
#pragma once

#include "link/liveness.h"
#include "link/relocate.h"

namespace devlink::internal {

struct RelocateAgainOptions {
  // nvlink stores what it takes for the values of shared and constant variables and drops the
  // relocations, though the next link lays them out (docs/relocatable.md). Otherwise every
  // relocation stays, its section symbols moved to where the contribution now begins.
  bool resolve_as_nvlink = false;
};

Relocated RelocateAgain(const Program& program, const Liveness& liveness,
                        const RelocateAgainOptions& options);

}  // namespace devlink::internal
