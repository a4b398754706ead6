// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "devlink/experimental/ptx_assembler.h"

namespace devlink::internal {

using OpenProgram = std::function<absl::StatusOr<std::unique_ptr<PtxAssembler>>()>;

// `library`, but texts of PtxBackendOptions::ptxas_from_bytes and more, and those with `-g`, go to
// the program, which the first of them opens. What the program cannot take for want of a process or
// of room for its files, and everything where there is none of the profile's release, is the
// library's.
std::unique_ptr<PtxAssembler> MakePtxasForLongTexts(const PtxBackendOptions& options,
                                                    std::unique_ptr<PtxAssembler> library,
                                                    OpenProgram open);

}  // namespace devlink::internal
