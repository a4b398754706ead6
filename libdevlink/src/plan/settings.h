// SPDX-License-Identifier: Apache-2.0
//
// What the options of a link mean for its parts.
#pragma once

#include <string>
#include <vector>

#include "base/severity_policy.h"
#include "devlink/link_options.h"
#include "input/input_record.h"
#include "input/input_settings.h"
#include "model/kernel_selection.h"
#include "model/redirect.h"

namespace devlink::internal {

// The target as nvlink names it: `sm_90`, or `compute_90` where inputs are only checked.
std::string TargetName(const LinkOptions& options);

base::SeverityPolicy SeverityPolicyOf(const LinkOptions& options);

InputSettings InputSettingsOf(const LinkOptions& options);

// Whether an object takes part only where something needs it: the device runtime.
bool IsOptional(const ObjectRecord& object, const LinkOptions& options);

// Which kernels the program keeps for the host's sake. `references` are those of all inputs;
// `known_before` as for KernelSelection::ReferredTo. Borrows names in the options.
KernelSelection SelectKernels(const LinkOptions& options,
                              const std::vector<HostReferences>& references, bool known_before);

// What references mean instead of the names that they have.
Redirections RedirectionsOf(const LinkOptions& options);

// Whether every function stays, whoever needs it.
bool LeavesOutNothing(const LinkOptions& options);

// Whether references of a link with -r wait for the next one.
bool KeepsReferences(const LinkOptions& options);

// Whether what host code refers to was asked for and counts for nothing, since names are given.
bool IgnoresHostInfo(const LinkOptions& options);
// Whether kernels or variables are named that the program uses.
bool NamesWhatIsUsed(const LinkOptions& options);

}  // namespace devlink::internal
