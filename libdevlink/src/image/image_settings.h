// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devlink/arch.h"
#include "devlink/toolkit_profile.h"

namespace devlink::internal {

// What the description of an output has to know besides what the passes found.
struct ImageSettings {
  Arch target;
  // The release whose tool record devlink's own takes the room of, and what that record says.
  ToolkitProfile profile;
  std::string recorded_object;
  std::string recorded_options;
  std::optional<std::string> recorded_tool;  // not set: devlink
  bool relocatable = false;                  // a program that is to be linked again
  // Then: references to shared memory are left to the next link.
  bool keep_references = false;
  // And: names that several sections have are left as nvlink leaves them.
  bool spoils_names = false;
  bool preserve_relocations = false;  // what only they name is listed, too
  // Of executables: the variables that are listed whether or not anything names them. Null: all.
  const std::vector<std::string>* retained_symbols = nullptr;
};

}  // namespace devlink::internal
