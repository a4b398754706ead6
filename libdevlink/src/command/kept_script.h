// SPDX-License-Identifier: Apache-2.0
//
// The script in the folder of --keep-dir: each step of the link as a command of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "devlink/experimental/link_intermediates.h"
#include "devlink/link_session.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

struct KeptFile {
  std::string file;   // its name in the folder, harmless
  std::string input;  // as messages call it
  std::string tool;   // as in LinkIntermediate
  std::vector<std::string> arguments;
};

// By stage and index.
using KeptFileMap = std::map<std::pair<LinkStage, std::uint32_t>, KeptFile>;

// All borrowed.
struct KeptLink {
  const NvlinkCommand& command;
  const CommandContext& context;
  const LinkOutcome& outcome;
  const KeptFileMap& files;
  const std::string& output;  // the name of its copy in the folder
};

std::string KeptScript(const KeptLink& link);

}  // namespace devlink::internal
