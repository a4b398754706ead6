// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace devlink::app {

// Runs one link as nvlink would. Returns the exit status: 0, 255 after errors of the link, 1 after
// anything that ends the run.
int RunDriver(const std::vector<std::string>& arguments);

}  // namespace devlink::app
