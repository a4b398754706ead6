// SPDX-License-Identifier: Apache-2.0
//
// Where code can come to by pointers, whoever calls through them.
#pragma once

#include <vector>

#include "link/call_graph.h"
#include "model/program.h"

namespace devlink::internal {

// The functions that `roots` (by FunctionId) come to: by calls, by pointers that their code and its
// constants have, and by pointers in variables that these refer to. Variables that no such code
// refers to do not count: tables of what nothing calls are common. `taken`: the functions whose
// address is taken, by FunctionId. Linear, but for sorting what holds pointers.
std::vector<bool> ReachedByPointers(const Program& program, const CallGraph& graph,
                                    const std::vector<bool>& roots, const std::vector<bool>& taken);

}  // namespace devlink::internal
