// SPDX-License-Identifier: Apache-2.0
//
// How a link says that it cannot go on for reasons that no pass found. Each adds a diagnostic and
// returns the status.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"

namespace devlink::internal {

// A failure that no input can be blamed for.
absl::Status ReportInternalError(absl::Status status, std::vector<Diagnostic>& diagnostics);

// Of two views the output can be unwritable because those of an input do not agree, or,
// Unimplemented, because an earlier toolkit's cannot be put together.
absl::Status ReportUnwritable(absl::Status status, Arch target,
                              std::vector<Diagnostic>& diagnostics);

// What this release cannot link, though nvlink can.
absl::Status Unsupported(std::string_view what, std::string_view note,
                         std::vector<Diagnostic>& diagnostics);

// A link without the finalizer of what nvlink -r has made unusable in machine code: the jump table
// of a function.
absl::Status RefuseLostTable(std::string_view function, std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
