// SPDX-License-Identifier: Apache-2.0
//
// What devlink-bench-jit links.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nvjitlink_library.h"

namespace devlink::bench {

// The names of files: they are read in the process that links them.
struct JitCase {
  enum class Kind { kCubins, kPtx, kLtoIr, kGiven };

  std::string name;
  Kind kind = Kind::kCubins;
  std::string arch;
  std::vector<std::string> files;
  std::vector<std::string> options = {};  // beside the target, for nvJitLink's interface
  bool fails = false;                     // as it should
  bool changes = false;                   // every link has other modules
};

// 1 to 1,000 cubins of ten functions each, and two small modules as cubins, PTX and LTO IR.
// Compiles what `cache` lacks.
std::vector<JitCase> LatencyCases(const std::string& arch, const std::filesystem::path& cache);

// Two cubins; two that are new at every link; one that lacks what it calls.
std::vector<JitCase> LeakCases(const std::string& arch, const std::filesystem::path& cache);

// Words of a command line: options begin with a dash, the others are files.
JitCase GivenCase(const std::string& arch, const std::vector<std::string>& words);

std::vector<NamedBytes> ReadInputs(const JitCase& what);

}  // namespace devlink::bench
