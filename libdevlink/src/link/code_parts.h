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

// Bytes of code that stays, of all functions together.
std::uint64_t BytesOfLiveCode(const Program& program, const Liveness& liveness);

// The kernels, each with all that it reaches, in `count` parts of about the same size: what several
// parts reach is in each of them. Kernels stay together where what they use lies in places that
// depend on all of them, such as a shared variable of a function that both reach; and where they
// reach different functions of one name. Empty where fewer parts are all that comes of it, or where
// one of them is so large that nothing is won.
std::vector<CodePart> CutIntoParts(const Program& program, const CallGraph& graph,
                                   const Liveness& liveness, std::size_t count);

}  // namespace devlink::internal
