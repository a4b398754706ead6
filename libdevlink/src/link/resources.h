// SPDX-License-Identifier: Apache-2.0
//
// Pass 7: registers and stack of each kernel, everything it calls included. One sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "link/call_graph.h"
#include "link/liveness.h"

namespace devlink::internal {

struct KernelResources {
  std::uint32_t registers = 0;
  std::optional<std::uint32_t> stack;    // bytes; nothing where the calls can go round in a circle
  std::uint32_t calls_into_circles = 0;  // functions it calls from where calls can go round; for
                                         // each call through a pointer all that can be meant
};

struct Resources {
  std::vector<KernelResources> kernels;           // as Liveness::kernels
  std::vector<std::uint32_t> function_registers;  // by FunctionId: its own REGCOUNT
  std::vector<std::uint32_t> frames;              // by FunctionId: its own FRAME_SIZE
  base::HashSet<FunctionId> unbounded;            // whose stack has none, as an assembler has said
};

// Of a program that is to be linked again: what each kernel says of itself.
Resources OwnResources(const Program& program, const Liveness& liveness);

Resources PropagateResources(const Program& program, const CallGraph& graph,
                             const Liveness& liveness);

}  // namespace devlink::internal
