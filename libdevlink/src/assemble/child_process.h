// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace devlink::internal {

struct ChildResult {
  int exit_status = -1;    // -1 where a signal ended it
  int signal = 0;          // 0 where it ended by itself
  bool timed_out = false;  // ended by us
  bool stopped = false;    // ended by us, since `stop` asked for it
  std::string text;        // its stderr, with its stdout where asked for, up to the bound
};

struct ChildOptions {
  std::string name;                      // that the program has in its own eyes; empty: its path
  std::vector<std::string> environment;  // all there is of it
  std::chrono::milliseconds timeout{0};  // zero: none
  std::stop_token stop;
  std::size_t max_text = 0;
  bool with_stdout = false;
  // Bound on the size of each file that it writes.
  std::uint64_t max_file_bytes = ~std::uint64_t{0};
  // The folder below which it may write; it is kept within a ChildFence. Empty: anywhere, no fence.
  std::string writable_folder;
};

// Runs a program to its end, without a shell: `argv[0]` is its path. stdin is empty and stdout goes
// nowhere unless it is asked for. The program has no other file of this process, signals as a shell
// gives them to it, leaves no core, and a process group of its own, all of which is killed when the
// timeout has passed or `stop` asks for it. It is killed when this process ends. Unavailable where
// the program cannot be started, or where its end cannot be known since this process ignores
// SIGCHLD. Thread-safe.
absl::StatusOr<ChildResult> RunChild(const std::vector<std::string>& argv,
                                     const ChildOptions& options);

}  // namespace devlink::internal
