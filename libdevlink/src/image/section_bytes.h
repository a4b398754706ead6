// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/program.h"

namespace devlink::internal {

// The bytes of a merged section in one.
inline std::vector<std::uint8_t> BytesOf(const Section& section) {
  std::vector<std::uint8_t> out(section.size);
  for (const Piece& piece : section.pieces) {
    std::copy(piece.bytes.begin(), piece.bytes.end(),
              out.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  }
  return out;
}

}  // namespace devlink::internal
