// SPDX-License-Identifier: Apache-2.0
//
// Pass 6: slots for texture and surface references (`.texref`, `.surfref`), the kind that is named
// in the program and bound by name, not the objects that CUDA C++ has today.
//
// Each kernel that uses one gets a word for every reference of the link behind its parameters; the
// driver stores the handles there, told where by relocations of the parameter bank.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash_table.h"
#include "link/call_graph.h"
#include "link/constant_layout.h"
#include "link/liveness.h"

namespace devlink::internal {

struct TextureSlot {
  SymbolId symbol = kNone;
  std::uint64_t offset = 0;   // in the parameter bank of every kernel that has slots
  FunctionId kernel = kNone;  // whose parameter it is; kNone where it is bound by name
  [[nodiscard]] bool IsFilledFor(FunctionId user) const {
    return kernel == kNone || kernel == user;
  }
};

struct TextureLayout {
  std::vector<TextureSlot> slots;                  // by ascending offset
  std::vector<ConstantBank> banks;                 // the grown parameter banks
  base::HashMap<SymbolId, std::uint64_t> offsets;  // the same as `slots`, by symbol
};

// Whether any of it names a texture, sampler or surface. Most programs do not.
bool RefersToTextures(const Program& program);

TextureLayout LayOutTextures(const Program& program, const CallGraph& graph,
                             const Liveness& liveness);

}  // namespace devlink::internal
