// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/compile_worker.h
//
// What does the actions of a CompileExecutor (devlink/experimental/compile_executor.h): in another
// process, or on another machine.
//
//   auto tools = devlink::ToolsOfWorker(tool_name, tool_path);
//   auto result = devlink::RunCompileAction(request, *tools);
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/toolchain.h"

namespace devlink {

// Options that name one tool, for a worker: CompileAction::tool_name, and where the tool lies
// there. What ptxas needs besides, a temporary directory, is for the caller to add. InvalidArgument
// where no tool is called so.
absl::StatusOr<ToolchainOptions> ToolsOfWorker(std::string_view tool_name, std::string tool_path);

// Does an action of this or another machine. Of `tools` only the tool that the request asks for
// counts, with its environment, times and bounds; its cache does not. The result is one
// to hand back as Execute's, also where the compiler refuses the text or the modules.
// InvalidArgument for what is not a request; FailedPrecondition where it is one for another version
// of devlink, another tool or another environment, or an argument names a file of this machine;
// NotFound where there is no tool. Other errors say that it could not be compiled here, and may be
// compiled elsewhere. A request decides what the compiler is told: take none from those who may
// not run programs here. Thread-safe.
absl::StatusOr<std::vector<std::uint8_t>> RunCompileAction(std::span<const std::uint8_t> request,
                                                           const ToolchainOptions& tools,
                                                           std::stop_token stop = {});

}  // namespace devlink
