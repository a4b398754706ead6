// SPDX-License-Identifier: Apache-2.0
//
// Who calls whom, as nvlink's -dump-callgraph and -dot write it.
#pragma once

#include <string>
#include <vector>

#include "devlink/arch.h"
#include "link/pass_results.h"

namespace devlink::internal {

// Functions by number, with registers and callees, and which callee raises whose registers.
std::vector<std::string> CallGraphLines(const PassResults& passes, Arch target);

// For Graphviz. In a program that is to be linked again calls through pointers lead nowhere.
std::string CallGraphDot(const PassResults& passes, bool relocatable);
// Of a link that makes no program.
std::string CallGraphDot();

}  // namespace devlink::internal
