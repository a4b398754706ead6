// SPDX-License-Identifier: Apache-2.0
//
// Links again and again in a process of its own, and says what that took.
#pragma once

#include <cstdint>

#include "jit_cases.h"
#include "jit_linkers.h"

namespace devlink::bench {

struct JitRun {
  unsigned threads = 1;
  double seconds = 0.25;    // for how long links go on behind the first; at least two on a thread
  std::uint64_t links = 0;  // not 0: so many in all instead, and no time is taken
};

// A plain value, which goes through a pipe. Times are in milliseconds.
struct JitResult {
  enum class State : std::uint8_t { kOk, kCannotOpen, kWrongResult, kCrashed };
  State state = State::kCrashed;
  bool is_devlink = false;  // JitLinker::is_devlink
  double loading = 0;       // the library, or what a session needs
  double first = 0;         // until each thread has linked once
  double least = 0;         // of the links behind that
  double median = 0;        // the same
  double links_per_second = 0;
  std::uint64_t links = 0;
  // Resident memory in bytes, beside that of the inputs: the most there was at any time, and what
  // was added behind the first link or, where links are counted, behind their first tenth.
  std::int64_t peak = 0;
  std::int64_t grown = 0;
};

// The process has nothing of what other measurements left: it is forked from this one, which must
// not have loaded any library or read any input.
JitResult MeasureJit(const LinkerChoice& choice, const JitCase& what, const ToolPlaces& places,
                     const JitRun& run);

}  // namespace devlink::bench
