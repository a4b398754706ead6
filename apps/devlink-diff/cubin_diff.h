// SPDX-License-Identifier: Apache-2.0
//
// Compares two cubins and says where they differ, in terms of what the bytes mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace devlink::diff {

struct DiffOptions {
  // The first record of `.note.nv.tkinfo` is the linker's own: it names the linker and its build.
  // It may differ in content, never in size. False compares it too.
  bool ignore_linker_record = true;
  // Lines per category: header, section list, each section, segments.
  int max_lines = 12;
};

// True where the files have the same bytes, but for the linker's own record.
bool SameCubin(std::span<const std::uint8_t> expected, std::span<const std::uint8_t> actual,
               const DiffOptions& options = {});

// Empty where SameCubin holds. Otherwise what differs, one finding a line: `-` stands before what
// is only expected, `+` before what is only there. Takes any bytes; damaged files are described as
// far as they can be read.
std::string ExplainDifference(std::span<const std::uint8_t> expected,
                              std::span<const std::uint8_t> actual,
                              const DiffOptions& options = {});

}  // namespace devlink::diff
