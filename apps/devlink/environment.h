// SPDX-License-Identifier: Apache-2.0
//
// What the program takes from the machine it runs on. Nothing else here, and nothing in the
// library, looks at environment variables.
#pragma once

#include <string>
#include <vector>

#include "devlink/experimental/lto_compiler.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink::app {

// The entries of LIBRARY_PATH.
std::vector<std::string> LibraryPath();

// Fills in the paths of assemblers that are not set: libdevlink_ptxcompiler.so beside this program,
// ptxas and libnvJitLink of the first toolkit on PATH; and where temporary files go.
void FindAssemblers(PtxBackendOptions& backend);

// Fills in the paths of the libraries that compile LTO IR. `places` of libNVVM are the one that was
// given (-nvvmpath) and, unless nvlink's behaviour is wanted, those near it and in the toolkit of
// `assemblers`.
void FindLtoLibraries(const PtxBackendOptions& assemblers, bool like_nvlink,
                      LtoBackendOptions& backend);

}  // namespace devlink::app
