// SPDX-License-Identifier: Apache-2.0
//
// Pass 10: what is wrong with the program as a whole, in the order in which nvlink reports it.
// Nothing is written where an error is found.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/severity_policy.h"
#include "devlink/diagnostics.h"
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
  const Attributes& attributes;
  const Relocated& relocated;
};

struct CheckSettings {
  base::SeverityPolicy severities;
  bool warn_of_unknown_stacks = true;
  std::uint64_t reserved_shared = 0;  // bytes in front of a kernel's shared memory
  // Values without room in their fields are cut off, warnings of stacks repeated, and pointers in
  // variables to functions that go forgotten.
  bool as_nvlink = false;
  bool allow_undefined_globals = false;
};

// NotFound for undefined references, ResourceExhausted where a limit of the target is exceeded,
// FailedPrecondition where a kernel uses tensor memory in two ways.
absl::Status CheckProgram(const CheckInput& input, const CheckSettings& settings,
                          std::vector<Diagnostic>& diagnostics);

// The same of the Mercury view, of what refers to something alone: its limits are those of machine
// code.
absl::Status CheckMercuryReferences(const CheckInput& input, const CheckSettings& settings,
                                    std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
