// SPDX-License-Identifier: Apache-2.0
//
// What must hold of every link before it is written, whatever the inputs are: a finding here is an
// error of the linker, not of its user.
//
// The first half looks once at every section, symbol, name and relocation. The second half follows
// what each kernel reaches, which costs as much as the layouts did; it runs where
// DEVLINK_EXPENSIVE_CHECKS is set (debug and sanitizer builds) and where a caller asks for it.
#pragma once

#include "absl/status/status.h"
#include "link/pass_results.h"
#include "link/shared_partial.h"

namespace devlink::internal {

#ifdef DEVLINK_EXPENSIVE_CHECKS
inline constexpr bool kExpensiveChecks = true;
#else
inline constexpr bool kExpensiveChecks = false;
#endif

// Before an executable is written. `reserved` are the bytes in front of shared memory
// (SharedOptions). Internal, with the section or symbol and the numbers that do not agree.
absl::Status VerifyExecutable(const PassResults& passes, std::uint64_t reserved,
                              bool expensive = kExpensiveChecks);

// Before a relocatable cubin is written, of which nothing is laid out.
absl::Status VerifyRelocatable(const Program& program, const Liveness& liveness,
                               const PartialSharedLayout& shared, const Relocated& relocated);

}  // namespace devlink::internal
