// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink::internal {

// Leaves to the executor of `options` where `inner` assembles. Errors are those of reading the
// tool's file.
absl::StatusOr<std::unique_ptr<PtxAssembler>> MakeExecutingPtxAssembler(
    const PtxBackendOptions& options, std::unique_ptr<PtxAssembler> inner);

}  // namespace devlink::internal
