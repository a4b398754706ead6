// SPDX-License-Identifier: Apache-2.0
//
// Symbols by which code has a say in what kernels look like.
#pragma once

#include <cstdint>

#include "format/elf_cuda.h"
#include "model/module.h"

namespace devlink::internal {

// What code says of shared memory and of textures counts for kernels.
inline bool CountsForKernels(const InputSymbol& symbol) {
  const std::uint32_t space = symbol.other & format::kStoSpaceMask;
  return space == format::kStoShared || space == format::kStoReservedShared ||
         format::IsTextureType(symbol.type);
}

}  // namespace devlink::internal
