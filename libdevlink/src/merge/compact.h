// SPDX-License-Identifier: Apache-2.0
//
// The end of the merge: what replaced bodies brought leaves the program, so that no later pass has
// to ask what still counts.
#pragma once

#include "merge/input_maps.h"
#include "merge/replaced_bodies.h"
#include "model/program.h"

namespace devlink::internal {

// Takes out relocations, records and variables of replaced bodies, and constants that no body has
// any more; sections and symbols are numbered anew, in their order, in `maps` too. What nvlink
// writes of them all the same stays: names in the string tables, numbers in NvlinkResidue, and
// parameters of replaced kernels with `keeps_parameters`. Sections of a kernel's compiler constants
// stay, empty, because the layout may fill them in their old place.
void Compact(const ReplacedBodies& replaced, bool relocatable, bool keeps_parameters,
             Program& program, InputMaps& maps);

}  // namespace devlink::internal
