// SPDX-License-Identifier: Apache-2.0
//
// An operator new that fails on request. A program that links this has it in place of the standard
// one.
#pragma once

#include <cstdint>

namespace devlink::testing {

// Of one thread.
struct FailingMemory {
  std::int64_t left = -1;  // allocations that still succeed; none fails where it is negative
  bool goes_on_failing = true;
  std::int64_t failures = 0;
  std::int64_t live = 0;  // blocks that are allocated

  // `n` allocations succeed, and none behind them.
  void FailFrom(std::int64_t n) {
    failures = 0;
    goes_on_failing = true;
    left = n;
  }
};

extern thread_local constinit FailingMemory memory;

}  // namespace devlink::testing
