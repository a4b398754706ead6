// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "assemble/child_fence.h"

namespace devlink::internal {

// What a child becomes. All of it is borrowed and ready: between fork and exec nothing may be
// allocated.
struct ChildStart {
  const char* path = nullptr;  // of the program
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  int text = -1;  // its stderr, and with `with_stdout` its stdout; the others are /dev/null
  bool with_stdout = false;
  std::uint64_t max_file_bytes = 0;
  const ChildFence* fence = nullptr;  // null: none
};

// Starts a program in a process group of its own, with default signals, without any other file of
// this process. It is killed when the calling thread ends. Returns 0, or an errno; `pid` is then
// not set. Thread-safe.
int StartChild(const ChildStart& start, pid_t& pid);

}  // namespace devlink::internal
