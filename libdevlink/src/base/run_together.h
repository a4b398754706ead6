// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/guard.h"
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

// Runs a job on the calling thread and returns what it returns; `beside` runs at the same time
// where the environment has a thread for it, once, and otherwise not at all. What the job throws is
// thrown on when both have ended; what `beside` throws is lost with it.
template <typename Result>
Result RunBeside(const Environment& environment, unsigned workers, absl::FunctionRef<Result()> job,
                 absl::FunctionRef<void()> beside) {
  if (workers < 2) return job();
  std::optional<Result> out;
  std::exception_ptr thrown;
  std::atomic<bool> is_beside_taken = false;
  RunWorkers(environment, 2, [&](unsigned worker) {
    if (worker > 0) {
      if (is_beside_taken.exchange(true)) return;
      Guard([&] {
        beside();
        return absl::OkStatus();
      }).IgnoreError();  // it is not needed
      return;
    }
    try {
      out.emplace(job());
    } catch (...) {
      thrown = std::current_exception();
    }
    is_beside_taken = true;
  });
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return *std::move(out);
}

}  // namespace devlink::base
