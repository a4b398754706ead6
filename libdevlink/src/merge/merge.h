// SPDX-License-Identifier: Apache-2.0
//
// Pass 1: all inputs, in link order, become one program.
//
// Each input goes through three passes of its own, and what comes into being in which of them
// decides the order of names, symbols and sections in the output:
//   1. functions: symbols, code sections, and what every entry has;
//   2. variables: symbols and the sections that hold them;
//   3. everything else, first sections with data, then attributes, call graph and relocations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/toolkit_profile.h"
#include "format/views.h"
#include "model/kernel_selection.h"
#include "model/program.h"

namespace devlink::internal {

struct MergeOptions {
  std::uint32_t sm = 0;
  bool architecture_specific = false;  // the target is an 'a' one
  ToolkitProfile profile;
  KernelSelection kernels;
  bool relocatable = false;  // the result is to be linked again
  // Which program of the inputs is merged; all of them must have it.
  format::ViewKind view = format::ViewKind::kSass;
};

// Appends what it finds to `diagnostics`. AlreadyExists where a symbol is defined twice,
// FailedPrecondition where declarations contradict each other; all such findings are reported.
absl::StatusOr<Program> Merge(std::span<const LinkInput> inputs, const MergeOptions& options,
                              std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
