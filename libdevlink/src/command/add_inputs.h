// SPDX-License-Identifier: Apache-2.0
//
// What happens between the words of a command and its link, in nvlink's order: libraries are looked
// for, files that options name are opened, inputs are read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/environment.h"
#include "devlink/link_session.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

struct InputPlaces {
  std::string library_path;        // CommandContext::library_path
  const Environment& files;        // what inputs are read with
  bool lacks_lto_library = false;  // LacksLtoLibrary
  absl::Status option_files;       // what came of reading files that options name
  std::function<absl::Status()> open_time_table;
};

struct AddedInputs {
  std::vector<std::string> libraries;  // that -l means, in their order
  // In nvlink's words what else ends the run, behind all that the session has to say.
  absl::Status status;
  // A warning was an error: what is wrong with inputs is found, and nothing is linked.
  bool is_in_error = false;

  [[nodiscard]] bool is_linked() const { return status.ok() && !is_in_error; }
};

// Files first, then libraries, as nvlink takes them, up to the first that cannot be used: the link
// then ends with it and says why.
AddedInputs AddInputs(const NvlinkCommand& command, const InputPlaces& places,
                      LinkSession& session);

}  // namespace devlink::internal
