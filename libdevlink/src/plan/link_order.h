// SPDX-License-Identifier: Apache-2.0
//
// What is linked when nothing is left to be compiled: modules in link order, and what host code
// refers to.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/host_references.h"
#include "devlink/link_options.h"
#include "model/program.h"
#include "plan/compile_lto.h"
#include "plan/link_context.h"
#include "plan/selection.h"

namespace devlink::internal {

struct LinkSet {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;
  std::vector<LinkInput> inputs;
  std::vector<HostReferences> references;  // of the inputs, and of objects without code
  bool references_known_before = false;    // see KernelSelection::ReferredTo
  bool left_out_runtime = false;           // a held device runtime that nothing needs
};

// The result of LTO, `pieces`, takes its place among the modules that were selected: one cubin, and
// those of --lto-partitions, go to where the last host object of the IR stood, other pieces to the
// front. The device runtime comes in only where something is undefined without it.
LinkSet InLinkOrder(std::vector<SelectedModule> modules, std::vector<SelectedReferences> references,
                    const LtoSelection& lto, std::vector<LtoPiece> pieces,
                    const LinkOptions& options, const LinkContext& context);

}  // namespace devlink::internal
