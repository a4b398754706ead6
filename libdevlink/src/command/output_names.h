// SPDX-License-Identifier: Apache-2.0
//
// Whether the files that a command is to write are files of their own.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// InvalidArgument where an option that nvlink lacks names the file of another, or an input:
// whatever is written last would be all that is left. nvlink's own, such as -o, may name what they
// like.
absl::Status CheckOutputNames(const NvlinkCommand& command);

// The same of files that were read since: libraries, members of thin archives, files of options.
absl::Status CheckOutputsOverInputs(const NvlinkCommand& command,
                                    std::span<const std::string> paths);

}  // namespace devlink::internal
