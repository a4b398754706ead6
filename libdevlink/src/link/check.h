// SPDX-License-Identifier: Apache-2.0
//
// Pass 10: what is wrong with the program as a whole, in the order in which nvlink reports it.
// Nothing is written where an error is found.
#pragma once

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "link/attributes.h"
#include "link/call_graph.h"
#include "link/constant_layout.h"
#include "link/liveness.h"
#include "link/relocate.h"
#include "link/resources.h"
#include "link/shared_layout.h"

namespace devlink::internal {

// What the checks look at. All borrowed.
struct CheckInput {
  std::span<const LinkInput> inputs;
  const Program& program;
  const CallGraph& graph;
  const Liveness& liveness;
  const SharedLayout& shared;
  const ConstantLayout& constants;
  const Resources& resources;
  const Relocated& relocated;
};

// NotFound for undefined references, ResourceExhausted where a limit of the target is exceeded.
absl::Status CheckProgram(const CheckInput& input, const LinkOptions& options,
                          std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
