// SPDX-License-Identifier: Apache-2.0
//
// nvlink's option texts for sessions and toolchains of the C interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "command/option_words.h"
#include "devlink/diagnostics.h"
#include "devlink/environment.h"
#include "devlink/nvlink_command.h"
#include "devlink/toolchain.h"

namespace devlink::c_api {

// The options of a session. InvalidArgument also for those that are none of a session's: outputs
// are results of calls, and tools belong to a toolchain. `said` receives what there is to say.
absl::StatusOr<NvlinkCommand> ReadSessionOptions(const std::vector<std::string>& words,
                                                 internal::OptionChecks checks,
                                                 const Environment& environment,
                                                 std::uint64_t max_file_bytes,
                                                 std::vector<Diagnostic>& said);

// The options that choose tools, and no others.
absl::StatusOr<ToolchainOptions> ReadToolOptions(const std::vector<std::string>& words,
                                                 std::vector<Diagnostic>& said);

}  // namespace devlink::c_api
