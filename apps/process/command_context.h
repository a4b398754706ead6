// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devlink/nvlink_command.h"

namespace devlink::app {

// What this process knows: its environment variables, its working directory, where it lies.
CommandContext TakeContext();

}  // namespace devlink::app
