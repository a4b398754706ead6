// SPDX-License-Identifier: Apache-2.0
//
// What is left of a section of which parts go, and where it lies now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bounded_reader.h"

namespace devlink::format {

struct KeptBytes {
  std::vector<std::uint8_t> bytes;
  // Runs of bytes that stay, by `from`.
  struct Run {
    std::uint64_t from = 0;
    std::uint64_t size = 0;
    std::uint64_t to = 0;
  };
  std::vector<Run> runs;

  // Appends a run of `section`, in which it lies; runs may have to be sorted then.
  void Keep(base::Bytes section, std::uint64_t begin, std::uint64_t size);
  // Where a byte of the section lies now; nothing where it goes.
  [[nodiscard]] std::optional<std::uint64_t> PlaceOf(std::uint64_t offset) const;
};

}  // namespace devlink::format
