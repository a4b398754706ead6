// SPDX-License-Identifier: Apache-2.0
//
// The output of a link for sm_100 and later: NVIDIA's finalizer links the cubins, and its file is
// taken over. That the program is sound was found before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "link/call_graph.h"
#include "link/liveness.h"
#include "model/kernel_selection.h"
#include "model/program.h"
#include "plan/link_context.h"
#include "plan/link_order.h"
#include "session/judged_file.h"

namespace devlink::internal {

// What is known of the program, by its machine code.
struct FinalizedProgram {
  const Program& program;
  const CallGraph& graph;
  const Liveness& liveness;
  const KernelSelection& kernels;
  bool code_is_fit = true;     // for the target, without the finalizer
  bool wants_details = false;  // which functions were finalized
};

// Makes the file of the same link without the finalizer, if it can. To be called once: the program
// may not outlive it.
using ComposeOwn = absl::FunctionRef<absl::StatusOr<std::vector<std::uint8_t>>()>;

// The output: the finalizer's file, with devlink's record, or ours (session/judged_file.h). Large
// programs are finalized in parts, which are put into our file.
//
// Nothing where the finalizer's use was forbidden, where the options leave it the choice and there
// is none or it fails before our file was made (then `diagnostics` say why), and for a partial link
// that leaves all references to the next one, which it cannot do.
absl::StatusOr<std::optional<JudgedFile>> FinalizeLink(
    const LinkSet& set, const FinalizedProgram& linked, const LinkOptions& options,
    const LinkContext& context, ComposeOwn compose_own, std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
