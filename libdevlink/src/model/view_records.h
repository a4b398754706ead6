// SPDX-License-Identifier: Apache-2.0
//
// What the two views of one cubin say of code and data, compared.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "model/module.h"

namespace devlink::internal {

// Both views have the same functions, which have the same attributes in the same order; initial
// values and constants are the same, those of the compiler but for places in code (docs/mercury.md,
// "Held to each other", says how this was found). InvalidArgument, with the section, where that
// does not hold: one of them lost something.
//
// `from_assembler` tells whether an assembler made the file, and not nvlink -r, which empties what
// is left of bodies that went.
//
// To be asked of views whose sections were checked.
absl::Status CheckRecordsAgree(const ModuleView& sass, const ModuleView& mercury,
                               absl::FunctionRef<bool()> from_assembler);

}  // namespace devlink::internal
