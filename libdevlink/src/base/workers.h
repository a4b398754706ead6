// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

#include "devlink/environment.h"

namespace devlink::base {

// How many workers `jobs` jobs get: not more than there are jobs, and not more than `threads`, or
// than the environment has where that is 0. An environment that does not know, and says 0 as
// std::thread::hardware_concurrency may, has one.
inline unsigned WorkersFor(std::size_t jobs, unsigned threads, const Environment& environment) {
  const std::size_t most = threads != 0 ? threads : std::max(environment.Parallelism(), 1U);
  return static_cast<unsigned>(std::min(jobs, most));
}

// Environment::RunWorkers. An environment that does not call `work(0)`, as it must, gets its jobs
// done all the same, on this thread.
inline void RunWorkers(const Environment& environment, unsigned workers,
                       const std::function<void(unsigned worker)>& work) {
  if (workers <= 1) return work(0);
  std::atomic<bool> called = false;
  environment.RunWorkers(workers, [&](unsigned worker) {
    if (worker == 0) called = true;
    work(worker);
  });
  if (!called) work(0);
}

}  // namespace devlink::base
