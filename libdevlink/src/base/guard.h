// SPDX-License-Identifier: Apache-2.0
//
// No exception leaves the library: every public entry that returns a status, and every worker, runs
// under Guard.
#pragma once

#include <type_traits>

#include "absl/status/status.h"

namespace devlink::base {

// The exception that is being handled as a status: ResourceExhausted where memory ran out, Internal
// with its message otherwise. Never throws, even where there is no memory for a message.
absl::Status StatusOfException() noexcept;

// What `work` returns, a status or something that is made of one; of what it throws, the status.
template <typename Work>
std::invoke_result_t<Work&> Guard(Work&& work) noexcept {
  try {
    return work();
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace devlink::base
