// SPDX-License-Identifier: Apache-2.0
//
// From a piece of device code in an input to the one code in it that suits the target.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/code_choice.h"
#include "devlink/link_options.h"
#include "input/expand.h"

namespace devlink::internal {

struct FoundCode {
  CodeKind kind = CodeKind::kSass;
  // Of a cubin, a text or LTO IR. Of protected LTO IR, which only NVIDIA's libraries open: a fat
  // binary with that member alone.
  std::vector<std::uint8_t> bytes;
  bool is_protected = false;
  std::optional<std::string> options;  // stored with a text or with LTO IR in a fat binary
};

// The target as nvlink names it: `sm_90`, or `compute_90` where inputs are only checked.
std::string TargetName(const LinkOptions& options);

// Chooses one member of every container in a fat binary, as nvlink does of the first. A container
// without code for the target gives a warning, except in an archive. Appends what it finds, and
// what there is to say; fails, the last diagnostic being fatal, where the link must end.
absl::Status FindCodeInFatbin(const DeviceBlob& blob, const LinkOptions& options,
                              std::vector<FoundCode>& found, std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
