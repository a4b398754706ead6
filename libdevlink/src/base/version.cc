// SPDX-License-Identifier: Apache-2.0
#include "devlink/version.h"

namespace devlink {

std::string_view Version() { return DEVLINK_VERSION; }

}  // namespace devlink
