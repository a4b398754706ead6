// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devlink/nvlink_command.h"

namespace devlink::nvjitlink {

// Where tools are, as the process knows that has loaded the library: variables of its environment,
// and the place of the library's own file. Nothing is kept between two calls.
CommandContext TakeSurroundings();

}  // namespace devlink::nvjitlink
