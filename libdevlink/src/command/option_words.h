// SPDX-License-Identifier: Apache-2.0
//
// nvlink's options for those who bring inputs and output themselves.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "command/option_table.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

struct LinkOptionWords {
  NvlinkCommand command;             // without inputs
  std::vector<const Option*> given;  // in the order of the table
};

// Whether options are also checked against each other, which needs a target.
enum class OptionChecks { kEach, kTogether };

// Reads words as ParseNvlinkCommand does, which are options alone: no input stands among them, and
// no output is needed. May throw.
absl::StatusOr<LinkOptionWords> ParseOptionWords(std::span<const std::string> words,
                                                 const CommandContext& context, OptionChecks checks,
                                                 std::vector<CommandMessage>& messages);

}  // namespace devlink::internal
