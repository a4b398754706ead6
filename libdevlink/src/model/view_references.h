// SPDX-License-Identifier: Apache-2.0
//
// What the two views of one cubin refer to, compared.
#pragma once

#include "absl/status/status.h"
#include "model/module.h"

namespace devlink::internal {

// Both views are one program, whose symbols have one number in both. So code has the same
// references in both, in the same order: of the same kind, to the same symbol, as far behind it,
// and, to places in the code itself, to places in the same order; but Mercury code alone names what
// the system keeps of shared memory. Variables with initial values, and constants, have the same
// references at the same places. InvalidArgument, with the section, where that does not hold: the
// link would lose a reference, have one too many, or lead elsewhere. docs/mercury.md says how this
// was found.
//
// To be asked of views whose sections and symbols were checked.
absl::Status CheckReferencesAgree(const ModuleView& sass, const ModuleView& mercury);

}  // namespace devlink::internal
