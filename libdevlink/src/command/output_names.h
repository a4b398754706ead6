// SPDX-License-Identifier: Apache-2.0
//
// Whether the files that a command is to write are files of their own.
#pragma once

#include "absl/status/status.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// InvalidArgument where two options name one file, or where one that nvlink lacks names an input:
// whatever is written last would be all that is left. -o may name an input, as with nvlink.
absl::Status CheckOutputNames(const NvlinkCommand& command);

}  // namespace devlink::internal
