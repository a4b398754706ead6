// SPDX-License-Identifier: Apache-2.0
//
// The symbol tables of the two views of one cubin, compared.
#pragma once

#include "absl/status/status.h"
#include "model/module.h"

namespace devlink::internal {

// A symbol has one number in both tables. What it is does not depend on the view, nor whose code it
// stands for; where it lies and how large it is does, of code. InvalidArgument, with the symbol,
// where that does not hold.
//
// To be asked of views whose sections and symbols were checked.
absl::Status CheckSymbolsAgree(const ModuleView& sass, const ModuleView& mercury);

}  // namespace devlink::internal
