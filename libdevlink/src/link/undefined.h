// SPDX-License-Identifier: Apache-2.0
//
// Undefined references, and what a person needs to mend them.
#pragma once

#include <string_view>
#include <vector>

#include "link/check.h"

namespace devlink::internal {

// Names that the driver knows: the linker does not look for them.
bool IsKnownToDriver(std::string_view name);

// One error per symbol, in creation order.
std::vector<Diagnostic> FindUndefined(const CheckInput& input);

}  // namespace devlink::internal
