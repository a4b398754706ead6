// SPDX-License-Identifier: Apache-2.0
//
// The results, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure.h"

namespace devlink::bench {

enum class Comparison { kNotMade, kIdentical, kDifferent };

struct Result {
  std::string name;
  bool is_ptx = false;  // the memory is the assembler's
  std::size_t inputs = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  Measurement nvlink;  // not ok and without failure: it was left out
  Measurement devlink;
  Measurement cat;
  Comparison outputs = Comparison::kNotMade;

  // How many times faster devlink is; 0 where that is not known.
  [[nodiscard]] double Ratio() const;
};

// `baseline`: the peak memory of a devlink that links nothing.
std::string TableText(const std::vector<Result>& results, std::uint64_t baseline);
std::string JsonText(const std::vector<Result>& results, std::uint64_t baseline,
                     const std::string& target);

}  // namespace devlink::bench
