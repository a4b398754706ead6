// SPDX-License-Identifier: Apache-2.0
//
// The results, for people and for programs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure.h"

namespace devlink::bench {

// kVaries: nvlink's own outputs differ from run to run, so none of them says anything. kOtherCode:
// what devlink was asked for is not what nvlink makes.
enum class Comparison { kNotMade, kIdentical, kVaries, kOtherCode, kDifferent };

// With how many threads devlink is measured, beside as many as it takes by itself.
constexpr std::array<int, 3> kThreads = {1, 2, 4};

struct Result {
  std::string name;
  bool uses_tools = false;  // the memory is theirs
  std::size_t inputs = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  // Not ok and without failure: it was left out.
  Measurement nvlink;
  Measurement nvjitlink;
  Measurement devlink;
  std::array<Measurement, kThreads.size()> with_threads;
  Measurement floor;               // reading the inputs and writing the output
  std::uint64_t instructions = 0;  // of devlink with one thread; 0: not counted
  Comparison outputs = Comparison::kNotMade;

  // How many times faster devlink is; 0 where that is not known.
  [[nodiscard]] double Ratio() const;
};

// `baseline`: the peak memory of a devlink that links nothing.
std::string TableText(const std::vector<Result>& results, std::uint64_t baseline);
std::string JsonText(const std::vector<Result>& results, std::uint64_t baseline,
                     const std::string& target);

}  // namespace devlink::bench
