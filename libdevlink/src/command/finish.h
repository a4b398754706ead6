// SPDX-License-Identifier: Apache-2.0
//
// What nvlink checks when all words of a command are read.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "command/option_table.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// Whether a command has to name its inputs and its output.
enum class Files { kNeeded, kOptional };

// InvalidArgument with nvlink's words for the first that is missing or contradictory. Warnings go
// to `messages`.
absl::Status FinishCommand(Parsed& parsed, Files files, std::vector<CommandMessage>& messages);

}  // namespace devlink::internal
