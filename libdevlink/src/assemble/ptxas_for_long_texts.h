// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "devlink/experimental/ptx_assembler.h"

namespace devlink::internal {

using OpenProgram = std::function<absl::StatusOr<std::unique_ptr<PtxAssembler>>()>;

// Whether ptxas may do what the library could. Not where an executor does the work: its tool is the
// library.
bool MayUseProgram(const PtxBackendOptions& options);

// Whether words of a job say that it is to do so whatever the text's length, since the library of
// 13.0 makes other code of some instructions (docs/compatibility.md).
bool IsForProgramAlone(const PtxBackendOptions& options, std::span<const std::string> arguments);

// `library`, but texts of PtxBackendOptions::ptxas_from_bytes and more, and those for the program
// alone, go to the program, which the first of them opens. What it cannot do, for want of a process
// or of room for its files, and what it refuses, is left to the library, as is everything where
// there is no program of the profile's release. A note says so where that may change code.
std::unique_ptr<PtxAssembler> MakePtxasForLongTexts(const PtxBackendOptions& options,
                                                    std::unique_ptr<PtxAssembler> library,
                                                    OpenProgram open);

}  // namespace devlink::internal
