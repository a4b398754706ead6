// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "link/pass_results.h"

namespace devlink::internal {

// The expensive half of VerifyExecutable: of the shared variables and constants that a kernel
// reaches no two overlap, and all lie inside its memory.
absl::Status VerifyMemoryOfKernels(const PassResults& passes, std::uint64_t reserved);

}  // namespace devlink::internal
