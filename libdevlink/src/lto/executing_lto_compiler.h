// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "devlink/experimental/lto_compiler.h"

namespace devlink::internal {

// Leaves to the executor of `options` where `inner` compiles. Errors are those of reading the
// tool's file.
absl::StatusOr<std::unique_ptr<LtoCompiler>> MakeExecutingLtoCompiler(
    const LtoBackendOptions& options, std::unique_ptr<LtoCompiler> inner);

// The file of the library that is called so; empty where the options have none.
std::string FileOfLtoLibrary(const LtoBackendOptions& options, std::string_view name);

}  // namespace devlink::internal
