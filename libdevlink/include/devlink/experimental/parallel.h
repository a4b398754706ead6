// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/parallel.h
//
// What parallel work may take of the machine: one value for everything that a link does in
// parallel, since no two kinds of it run at the same time.
#pragma once

#include <cstdint>

namespace devlink {

struct ParallelOptions {
  // Jobs at a time; 0 for as many as the machine has processors.
  unsigned threads = 0;
  // Bound on the estimated memory, in bytes, of the jobs that run at a time. One runs in any case.
  std::uint64_t memory_budget = std::uint64_t{2} << 30;
};

// `threads`, with 0 replaced by the number of processors; at least 1.
unsigned ThreadCount(const ParallelOptions& options);

}  // namespace devlink
