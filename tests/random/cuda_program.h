// SPDX-License-Identifier: Apache-2.0
//
// Random programs in CUDA C++, one to four files that link with each other: what a compiler makes
// of templates, virtual functions, statics, lambdas and the rest of the language.
#pragma once

#include <cstdint>
#include <string>

#include "random/random_program.h"

namespace devlink::testing {

// The same program for the same arguments, everywhere. Compiles with nvcc 13.0 -rdc=true.
RandomProgram MakeCudaProgram(std::uint64_t seed, ProgramTarget target,
                              const GeneratorLimits& limits = {});

// The same as LTO IR in host objects, for a devlink command line. `toolkit`: its folder.
RandomProgram MakeLtoProgram(std::uint64_t seed, ProgramTarget target, const std::string& toolkit,
                             const GeneratorLimits& limits = {});

}  // namespace devlink::testing
