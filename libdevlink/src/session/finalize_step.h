// SPDX-License-Identifier: Apache-2.0
//
// The output of a link for sm_100 and later: NVIDIA's finalizer links the cubins, and its file is
// taken over. That the program is sound was found before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "link/liveness.h"
#include "model/program.h"
#include "plan/link_context.h"
#include "plan/link_order.h"

namespace devlink::internal {

// What is known of the program, by its machine code.
struct FinalizedProgram {
  const Program& program;
  const Liveness& liveness;
};

// The finalizer's file, with devlink's record. Nothing where its use was forbidden, where the
// options leave it the choice and there is none or it fails (then `diagnostics` say why), and for a
// partial link that leaves all references to the next one, which it cannot do.
absl::StatusOr<std::optional<std::vector<std::uint8_t>>> FinalizeLink(
    const LinkSet& set, const FinalizedProgram& program, const LinkOptions& options,
    const LinkContext& context, std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
