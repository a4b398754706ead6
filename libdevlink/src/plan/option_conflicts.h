// SPDX-License-Identifier: Apache-2.0
//
// Options that contradict each other. This is the one place that knows, for the library and for the
// command.
#pragma once

#include "absl/status/status.h"
#include "devlink/link_options.h"

namespace devlink::internal {

// InvalidArgument with nvlink's words for the first contradiction that nvlink would name.
absl::Status CheckOptions(const LinkOptions& options);

// Names of symbols that mean nothing, or two things: options that nvlink does not have.
// CheckOptions calls it.
absl::Status CheckSymbolOptions(const LinkOptions& options);

// The two halves of CheckOptions. The command makes checks of its own between them.
absl::Status CheckDebugOptions(const LinkOptions& options);
absl::Status CheckLtoOptions(const LinkOptions& options);

}  // namespace devlink::internal
