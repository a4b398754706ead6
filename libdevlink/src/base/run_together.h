// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>

#include "absl/functional/function_ref.h"
#include "base/workers.h"
#include "devlink/environment.h"

namespace devlink::base {

// Runs two jobs that do not depend on each other: at the same time where the environment has a
// thread for the second, one after the other where not or where `workers` is 1. What a job throws
// is thrown on when both have ended, the first job's before the second's.
inline void RunTogether(const Environment& environment, unsigned workers,
                        absl::FunctionRef<void()> first, absl::FunctionRef<void()> second) {
  const std::array<absl::FunctionRef<void()>, 2> jobs = {first, second};
  std::array<std::exception_ptr, 2> thrown;
  std::atomic<std::size_t> next = 0;
  const auto work = [&](unsigned /*worker*/) {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      try {
        jobs[i]();
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  RunWorkers(environment, std::min(workers, 2U), work);
  for (const std::exception_ptr& exception : thrown) {
    if (exception != nullptr) std::rethrow_exception(exception);
  }
}

}  // namespace devlink::base
