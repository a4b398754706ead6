// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and measures it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace devlink::bench {

// A program and its words, and what its environment has beside ours (`NAME=value`).
struct Command {
  std::vector<std::string> words;
  std::vector<std::string> variables = {};
};

struct Measurement {
  bool ok = false;  // every run returned 0
  int runs = 0;
  double seconds = 0;      // wall time, the median of all runs
  double least = 0;        // and the shortest
  std::uint64_t peak = 0;  // resident memory in bytes, the largest of all runs
  std::string failure;     // what the program said, where it failed: the first line
};

// Runs the commands in `directory`, in turns, so that a change of the machine's speed meets them
// all: each up to `runs` times, and not again where a run failed or took more than `long_run`
// seconds. stdout is thrown away. One without words is not run; its measurement is empty.
//
// The kernel counts a child's peak memory from the moment of its creation, when it still has the
// memory of its parent: so this program keeps itself small, and reads no module while it measures.
std::vector<Measurement> MeasureInTurns(const std::vector<Command>& commands,
                                        const std::filesystem::path& directory, int runs,
                                        double long_run);

// The same for one command.
Measurement Measure(const Command& command, const std::filesystem::path& directory, int runs);

// How many instructions a command takes, counted by Valgrind, in which it runs once; 0 where that
// is not there, or fails.
std::uint64_t CountInstructions(const Command& command, const std::filesystem::path& directory);

}  // namespace devlink::bench
