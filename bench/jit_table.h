// SPDX-License-Identifier: Apache-2.0
//
// What devlink-bench-jit found, as tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "jit_measure.h"

namespace devlink::bench {

// One way to link one program; with 1 and 2 threads, of each as many results as there were rounds.
struct JitRow {
  std::string inputs;
  LinkerChoice choice;
  std::map<unsigned, std::vector<JitResult>> by_threads = {};
};

// How a way to link is called.
std::string NameOf(const LinkerChoice& choice, const JitResult& result);

// Times, links per second with one thread and with two, memory.
std::string LatencyText(const std::vector<JitRow>& rows);

// By how much memory grows with each link.
std::string LeakText(const std::vector<JitRow>& rows);

// Whether all that was measured went well.
bool AllWell(const std::vector<JitRow>& rows);

}  // namespace devlink::bench
