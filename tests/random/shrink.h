// SPDX-License-Identifier: Apache-2.0
//
// Makes a program that links differently smaller while it does so.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "random/link_pair.h"
#include "random/random_program.h"

namespace devlink::testing {

using ProgramMaker =
    std::function<RandomProgram(std::uint64_t seed, const GeneratorLimits& limits)>;

struct Shrunk {
  RandomProgram program;
  PairResult result;
};

// First asks the generator for smaller programs, then removes lines from the smallest. Gives back
// what came in where nothing smaller differs in the same way.
Shrunk Shrink(LinkPair& pair, const ProgramMaker& maker, std::uint64_t seed,
              const GeneratorLimits& limits, const Shrunk& start, std::chrono::seconds time);

}  // namespace devlink::testing
