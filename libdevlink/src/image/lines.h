// SPDX-License-Identifier: Apache-2.0
//
// Line tables of machine code in a file with two views: nvlink writes them anew there, without the
// sequences of functions that go (docs/mercury.md, "Lines").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/program.h"

namespace devlink::internal {

struct Lines {
  std::vector<std::uint8_t> bytes;
  // Runs of bytes that stay, by `from`.
  struct Run {
    std::uint64_t from = 0;
    std::uint64_t size = 0;
    std::uint64_t to = 0;
  };
  std::vector<Run> runs;
  std::vector<Run> headers;  // of the units, in their order; `runs` has them, too

  // Where a byte of the section lies now; nothing where it goes.
  [[nodiscard]] std::optional<std::uint64_t> PlaceOf(std::uint64_t offset) const;
};

// The place in the output's symbol table of what a relocated field names, by its offset; nothing
// where no relocation of it stays.
using SymbolAt = std::function<std::optional<std::uint32_t>(std::uint64_t)>;

// `.debug_line` or `.nv_debug_line_sass` without the sequences whose address no relocation fills
// in. Those of a unit are sorted by their functions' symbols. Nothing where the bytes are not such
// a table.
std::optional<Lines> KeepLines(const Section& section, const SymbolAt& symbol_at);

}  // namespace devlink::internal
