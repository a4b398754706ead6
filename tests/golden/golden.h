// SPDX-License-Identifier: Apache-2.0
//
// Goldens: committed inputs, and of what nvlink 13.0 made of them the size, a hash and the names of
// its sections and symbols. They check a link where there is no CUDA toolkit.
//
// `tests/golden/CASE.sm_80.1.cubin`, `.2.cubin`... are the inputs in link order, made from
// tests/link/cases; `tests/golden/CASE.sm_80.txt` describes the output. scripts/update-goldens
// writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace devlink::testing {

struct Golden {
  std::string name;                           // "globals sm_80"
  std::string arch;                           // "sm_80"
  std::vector<std::filesystem::path> inputs;  // in link order
  std::filesystem::path description;
};

// By name; empty where the directory is.
std::vector<Golden> FindGoldens();

// Size, hash and names. The linker's own note counts as zeroes: it names the linker.
std::string DescribeOutput(std::span<const std::uint8_t> cubin);

}  // namespace devlink::testing
