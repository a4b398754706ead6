// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace devlink::inspect {

// page/inspect.js.
std::string_view InspectPageScript();

}  // namespace devlink::inspect
