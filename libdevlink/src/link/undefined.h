// SPDX-License-Identifier: Apache-2.0
//
// Undefined references, and what a person needs to mend them.
#pragma once

#include <string_view>
#include <vector>

#include "link/check.h"

namespace devlink::internal {

// One error per symbol, in creation order.
std::vector<Diagnostic> FindUndefined(const CheckInput& input);

}  // namespace devlink::internal
