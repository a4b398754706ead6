// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "devlink/environment.h"

namespace devlink::base {

// How many workers `jobs` jobs get: not more than there are jobs, and not more than `threads`, or
// than the environment has where that is 0.
inline unsigned WorkersFor(std::size_t jobs, unsigned threads, const Environment& environment) {
  const std::size_t most = threads != 0 ? threads : environment.Parallelism();
  return static_cast<unsigned>(std::min(jobs, most));
}

}  // namespace devlink::base
