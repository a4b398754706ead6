// SPDX-License-Identifier: Apache-2.0
//
// What nvlink loses: functions to which only pointers lead, pointers themselves, and what kernels
// need that stay for their address.
#pragma once

#include <optional>
#include <vector>

#include "devlink/diagnostics.h"
#include "link/call_graph.h"
#include "link/liveness.h"
#include "model/program.h"

namespace devlink::internal {

// What variables point to, and what only an input said to have its address taken whose copy of the
// function is discarded: nvlink forgets that (docs/compatibility.md). The function goes, or kernels
// that call through such pointers do not get the registers and the stack that it needs. Without
// those that stay and that nobody calls so; in a relocatable link, which cannot know, with them.
std::vector<PointedFunction> FindLostPointers(const Program& program, const Liveness& liveness,
                                              bool relocatable);

// The program with those addresses taken.
Program WithAddressesTaken(Program program, const std::vector<PointedFunction>& functions);

// The program with what of it is lost, as only NVIDIA's finalizer can make its code, which forgets
// what nvlink forgets.
Program AsFinalizerHasIt(Program program, const std::vector<PointedFunction>& lost);

// What FindLostPointers found, in words; nothing where that is nothing.
std::optional<Diagnostic> NoteForgottenAddresses(const Program& program);

// Pointers in constants to another input's copy, in words; nothing where there are none.
std::optional<Diagnostic> NoteSecondCopyPointers(const Program& program);

// What nvlink loses of kernels that stay beside the one that is wanted, in words.
std::optional<Diagnostic> NoteLostByOne(const Program& program, const Liveness& liveness);

// What stays behind pointers only, in words; nothing where nothing does.
std::optional<Diagnostic> NoteBehindPointers(const Program& program, const CallGraph& graph,
                                             const Liveness& liveness);

}  // namespace devlink::internal
