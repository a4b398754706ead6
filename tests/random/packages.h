// SPDX-License-Identifier: Apache-2.0
//
// Random programs in all that a linker is handed code in: fat binaries, host objects with the lists
// of what host code refers to, archives of both; cubins for several architectures; options that
// leave kernels out. The code is that of the random PTX programs, and kernels that only device code
// refers to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "random/random_program.h"

namespace devlink::testing {

// The same program for the same arguments. For a devlink command line, not for a session: the
// options are nvlink's.
RandomProgram MakePackagedProgram(std::uint64_t seed, ProgramTarget target,
                                  const GeneratorLimits& limits = {});

// Packs `cubins`, which the files of `program` were compiled to, into `directory`. The inputs of
// the link, in order; nothing where a file cannot be read or written.
std::optional<std::vector<std::string>> WritePackages(const RandomProgram& program,
                                                      ProgramTarget target,
                                                      const std::vector<std::string>& cubins,
                                                      const std::filesystem::path& directory);

}  // namespace devlink::testing
