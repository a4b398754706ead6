// SPDX-License-Identifier: Apache-2.0
//
// nvlink's command line, as far as this release goes: single dash for short names, double dash for
// long ones, `-name value` or `-name=value`, no abbreviations.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "devlink/experimental/library_search.h"
#include "devlink/link_options.h"

namespace devlink::app {

struct CommandLine {
  LinkOptions options;
  std::vector<std::string> inputs;
  LibraryQuery libraries;     // -l, -L, -cpu-arch
  std::string register_file;  // --register-link-binaries
  std::string output;
  std::string report;                 // --report: where the JSON report goes
  std::string cache;                  // --cache: the folder
  std::vector<std::string> warnings;  // about the command line itself
  bool help = false;
  bool version = false;
  bool log = false;  // --log: what the linker does, on stderr
};

// Either the command line or the text of a fatal message, in nvlink's words.
std::variant<CommandLine, std::string> ParseCommandLine(const std::vector<std::string>& arguments);

std::string HelpText();

}  // namespace devlink::app
