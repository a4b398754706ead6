// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink-inspect/inspect.h"

namespace devlink::inspect {

struct CommandLine {
  std::vector<std::string> files;
  Choice choice;
  bool json = false;
  bool html = false;
  bool demangle = true;
  std::string extract;    // a member or `all`; empty where nothing is taken out
  std::string directory;  // -o
  bool force = false;
  bool help = false;
  bool version = false;
};

// InvalidArgument with what is wrong.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& words);

std::string_view HelpText();

}  // namespace devlink::inspect
