// SPDX-License-Identifier: Apache-2.0
//
// What a command tells of its link besides nvlink's messages.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/link_session.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// Whether any of it is made of LinkReport::details.
bool WantsDetails(const NvlinkCommand& command);

// Of --why-live, --why-input, --why-registers and --size. NotFound for what nothing is called.
absl::StatusOr<std::string> AnswersOf(const NvlinkCommand& command, const LinkReport& report);

// A file that is written with the output or not at all.
struct ReportFile {
  std::string path;
  std::string text;
};

// Of --report, --map and --dependency-file; `files` were read.
absl::StatusOr<std::vector<ReportFile>> ReportFiles(const NvlinkCommand& command,
                                                    const LinkOutcome& outcome,
                                                    std::span<const std::string> files);

}  // namespace devlink::internal
