// SPDX-License-Identifier: Apache-2.0
//
// Random programs in PTX, one to five files that link with each other. They are made for a linker,
// not for a GPU: everything a compiler can put into an object file turns up, in combinations that
// no compiler front end would write, and nobody runs them.
#pragma once

#include <cstdint>

#include "random/random_program.h"

namespace devlink::testing {

// The same program for the same arguments, on every machine and with every compiler. The program is
// valid for ptxas 13.0 and has no undefined references but the device runtime's (vprintf, malloc,
// free,
// __assertfail).
RandomProgram MakePtxProgram(std::uint64_t seed, ProgramTarget target,
                             const GeneratorLimits& limits = {});

}  // namespace devlink::testing
