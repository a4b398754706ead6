// SPDX-License-Identifier: Apache-2.0
//
// The output of a link for sm_100 and later: NVIDIA's finalizer links the cubins, and its file is
// taken over. That the program is sound was found before.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "plan/link_context.h"
#include "plan/link_order.h"

namespace devlink::internal {

// Whether there is a way to write the output. The one place that says what is missing; of both
// functions `diagnostics` say what the user reads.
absl::Status CheckFinalizer(const LinkOptions& options, const LinkContext& context,
                            std::vector<Diagnostic>& diagnostics);

// The file, with devlink's record.
absl::StatusOr<std::vector<std::uint8_t>> FinalizeLink(const LinkSet& set,
                                                       const LinkOptions& options,
                                                       const LinkContext& context,
                                                       std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
