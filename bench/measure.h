// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and measures it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace devlink::bench {

struct Measurement {
  bool ok = false;  // every run returned 0
  int runs = 0;
  double seconds = 0;      // wall time, the median of all runs
  std::uint64_t peak = 0;  // resident memory in bytes, the largest of all runs
  std::string failure;     // what the program said, where it failed: the first line
};

// Runs `arguments` in `directory` up to `runs` times; once only where a run takes more than
// `long_run` seconds. stdout is thrown away.
//
// The kernel counts a child's peak memory from the moment of its creation, when it still has the
// memory of its parent: so this program keeps itself small, and reads no module while it measures.
Measurement Measure(const std::vector<std::string>& arguments,
                    const std::filesystem::path& directory, int runs, double long_run);

// The same for two programs that take turns, so that a change of the machine's speed meets both.
std::pair<Measurement, Measurement> MeasureInTurns(const std::vector<std::string>& first,
                                                   const std::vector<std::string>& second,
                                                   const std::filesystem::path& directory,
                                                   int runs);

}  // namespace devlink::bench
