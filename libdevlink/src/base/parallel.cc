// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/parallel.h"

#include <algorithm>
#include <thread>

namespace devlink {

unsigned ThreadCount(const ParallelOptions& options) {
  if (options.threads != 0) return options.threads;
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace devlink
