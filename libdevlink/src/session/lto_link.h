// SPDX-License-Identifier: Apache-2.0
//
// Link-time optimization as one step of a link: from LTO IR to PTX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"

namespace devlink::internal {

// How one attempt goes beyond what nvlink does.
struct LtoChoices {
  bool with_runtime = false;      // the device runtime counts, although nvlink would not open it
  bool keep_arch_suffix = false;  // CiccOptionBuilder::KeepArchSuffix
};

// What became of all LTO IR of a link.
struct LtoAttempt {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> pieces;                // PTX
  std::vector<std::vector<std::uint8_t>> cubins;  // of the pieces, but with -emit-ptx
  bool is_whole_program = false;                  // the one cubin is the output
  bool suffix_may_help = false;                   // CiccOptionBuilder::NeedsSecondAttempt
};

}  // namespace devlink::internal
