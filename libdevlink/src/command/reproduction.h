// SPDX-License-Identifier: Apache-2.0
//
// --reproduce: an archive with all that a link read, and a script that links it again elsewhere.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/environment.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// `files` were read by the link; `libraries` are those of them that -l meant, in their order.
// Paths lead on from the working directory. Every file stands below `files/` under its absolute
// path, so that thin archives find theirs.
absl::Status WriteReproduction(const NvlinkCommand& command, const CommandContext& context,
                               std::span<const std::string> files,
                               const std::vector<std::string>& libraries,
                               const Environment& environment);

}  // namespace devlink::internal
