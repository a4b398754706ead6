// SPDX-License-Identifier: Apache-2.0
//
// What the two views of one cubin refer to, compared.
#pragma once

#include "absl/status/status.h"
#include "model/module.h"

namespace devlink::internal {

// Both views are one program, whose symbols have one number in both. So a function refers to each
// symbol as often in one as in the other, wherever in its code; but Mercury code alone names what
// the system keeps of shared memory. Variables with initial values, and constants, have the same
// references at the same places. InvalidArgument, with the section, where that does not hold: the
// link would lose a reference, or have one too many. docs/mercury.md says how this was found.
//
// To be asked of views whose sections and symbols were checked.
absl::Status CheckReferencesAgree(const ModuleView& sass, const ModuleView& mercury);

}  // namespace devlink::internal
