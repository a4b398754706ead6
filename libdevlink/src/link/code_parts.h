// SPDX-License-Identifier: Apache-2.0
//
// Code cut into parts that can be finalized one without the other, at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "link/call_graph.h"
#include "link/liveness.h"
#include "model/program.h"

namespace devlink::internal {

struct CodePart {
  std::vector<std::string_view> sections;  // names of code, each once
  std::uint64_t bytes = 0;
};

// What stays, of all functions together, and what goes.
struct LiveCode {
  std::uint64_t bytes = 0;
  std::uint64_t sections = 0;
  std::uint64_t bytes_that_go = 0;
};
LiveCode LiveCodeOf(const Program& program, const Liveness& liveness);

// The functions in `count` parts of about the same size, those of one name in one part: what the
// finalizer does to one depends on no other, as long as a part's inputs say of the others who calls
// whom and who uses which shared memory (finalize/reduced_input.h). Empty where fewer parts are all
// that comes of it, or where one of several is so large that nothing is won.
std::vector<CodePart> CutIntoParts(const Program& program, const Liveness& liveness,
                                   std::size_t count);

// Code that has a say in where something lies that kernels have in common, with the kernels that
// come to it: all parts have to have it, so that it lies where it does in the whole. That is shared
// memory (link/shared_layout.h) and constants of functions, which each kernel that reaches them has
// among its own (link/constant_layout.h). Code that goes is among it.
std::vector<FunctionId> CodeOfAllParts(const Program& program, const CallGraph& graph,
                                       const Liveness& liveness);

// Of each function that stays, one that calls it on a shortest way from a kernel; kNone of kernels
// and of what no kernel comes to.
std::vector<FunctionId> CallersFromKernels(const CallGraph& graph, const Liveness& liveness);

}  // namespace devlink::internal
