// SPDX-License-Identifier: Apache-2.0
//
// Compiles the modules of a program, once: a second run finds them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "programs.h"

namespace devlink::bench {

// Where the modules of a program lie. Command lines of thousands of inputs stay short because the
// linkers run in that directory.
struct CompiledProgram {
  std::filesystem::path directory;
  std::vector<std::string> files;  // in link order, relative to `directory`
  std::uint64_t bytes = 0;
};

// Compiles with ptxas or nvcc from $PATH what `cache` does not hold yet, on all processors. Throws
// std::runtime_error where they fail.
CompiledProgram CompileProgram(const ProgramClass& program, const std::string& target,
                               const std::filesystem::path& cache);

}  // namespace devlink::bench
