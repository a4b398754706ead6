// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace devlink::internal {

struct ChildResult {
  int exit_status = -1;    // -1 where a signal ended it
  int signal = 0;          // 0 where it ended by itself
  bool timed_out = false;  // ended by us
  std::string text;        // its stderr, with its stdout where asked for, up to the bound
};

// Runs a program to its end, without a shell: `argv[0]` is its path. stdin is empty and stdout
// goes nowhere unless `with_stdout`; the environment is `environment` only. It has a process group
// of its own, all of which is killed when `timeout` (zero: none) has passed. Unavailable where it
// cannot be started. Thread-safe.
absl::StatusOr<ChildResult> RunChild(const std::vector<std::string>& argv,
                                     const std::vector<std::string>& environment,
                                     std::chrono::milliseconds timeout, std::size_t max_text,
                                     bool with_stdout = false);

}  // namespace devlink::internal
