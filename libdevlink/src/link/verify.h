// SPDX-License-Identifier: Apache-2.0
//
// What must hold of every link before it is written, whatever the inputs are: a finding here is an
// error of the linker, not of its user.
//
// The first half looks once at every section, symbol, name and relocation. The second half follows
// what each kernel reaches, which costs as much as the layouts did; it runs where
// DEVLINK_EXPENSIVE_CHECKS is set (debug and sanitizer builds) and where a caller asks for it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "link/pass_results.h"

namespace devlink::internal {

#ifdef DEVLINK_EXPENSIVE_CHECKS
inline constexpr bool kExpensiveChecks = true;
#else
inline constexpr bool kExpensiveChecks = false;
#endif

struct VerifyOptions {
  std::uint64_t reserved = 0;  // bytes in front of shared memory (SharedOptions)
  bool partial = false;        // a program that is to be linked again: nothing is laid out
  // Global memory may be smaller than its variables, which ptxas counts in 32 bits, and so may
  // constants, which nvlink packs.
  bool sizes_as_nvlink = false;
  bool expensive = kExpensiveChecks;
};

// Internal, with the section or symbol and the numbers that do not agree.
absl::Status VerifyResults(const PassResults& passes, const VerifyOptions& options);

}  // namespace devlink::internal
