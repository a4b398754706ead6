// SPDX-License-Identifier: Apache-2.0
//
// Pass 1: all inputs, in link order, become one program and what is around it in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/severity_policy.h"
#include "devlink/diagnostics.h"
#include "devlink/toolkit_profile.h"
#include "format/views.h"
#include "merge/input_maps.h"
#include "model/file_parts.h"
#include "model/kernel_selection.h"
#include "model/program.h"

namespace devlink::internal {

struct MergeOptions {
  std::uint32_t sm = 0;
  bool architecture_specific = false;  // the target is an 'a' one
  ToolkitProfile profile;
  KernelSelection kernels;
  bool relocatable = false;  // the result is to be linked again
  base::SeverityPolicy severities;
  // kNvlink: `.nv.global` keeps the size that ptxas counted in 32 bits, constants are packed.
  Compatibility compatibility = Compatibility::kDevlink;
  // Which program of the inputs is merged; all of them must have it.
  format::ViewKind view = format::ViewKind::kSass;
  bool force_rela = false;         // LinkOptions::force_rela
  bool preserve_resolved = false;  // LinkOptions::preserve_relocations
  bool allow_undefined = false;    // LinkOptions::allow_undefined_globals
  // The bytes of `.nv.host`, which the program borrows; none: no such section.
  std::optional<std::string_view> host_section;
  bool keep_maps = false;  // fill Merged::maps
};

struct Merged {
  Program program;
  FileParts file;
  InputMaps maps;  // empty unless they are asked for
};

// Appends what it finds to `diagnostics`. AlreadyExists where a symbol is defined twice,
// FailedPrecondition where declarations contradict each other. All that is wrong with one input is
// reported; later inputs are not looked at.
absl::StatusOr<Merged> Merge(std::span<const LinkInput> inputs, const MergeOptions& options,
                             std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
