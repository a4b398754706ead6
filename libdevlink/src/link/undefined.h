// SPDX-License-Identifier: Apache-2.0
//
// Undefined references, and what a person needs to mend them.
#pragma once

#include <string_view>
#include <vector>

#include "link/check.h"

namespace devlink::internal {

// One error per symbol, in creation order. Variables of global memory may be allowed to be missing.
std::vector<Diagnostic> FindUndefined(const CheckInput& input, bool allow_globals = false);

}  // namespace devlink::internal
