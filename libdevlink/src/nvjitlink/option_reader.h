// SPDX-License-Identifier: Apache-2.0
//
// The options of nvJitLinkCreate, by rules of their own: one text for each option, a name that is
// known by how it begins, and no value where nvlink would have one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/arch.h"
#include "devlink/experimental/ptxas_options.h"
#include "nvjitlink/abi.h"

namespace devlink::nvjitlink {

// A plain value.
struct Options {
  Arch target;
  // What PTX is assembled for: the target, whatever is behind its number.
  std::string assembler_target;
  bool is_virtual = false;  // -arch=compute_NN: PTX is all that is made
  bool lto = false;
  bool ptx = false;
  bool relocatable = false;
  bool debug = false;
  bool verbose = false;
  bool time = false;
  bool line_info = false;
  std::optional<FastCompile> fast_compile;
  int max_registers = 0;
  int split_compile = 1;
  int split_compile_extended = 1;
  std::vector<std::string> kernels_used;
  std::vector<std::string> variables_used;
  std::vector<std::string> assembler_words;  // for ptxas, in the order of the options
  std::vector<std::string> nvvm_words;       // for libNVVM, likewise
};

struct OptionReading {
  Result result = Result::kSuccess;
  Options options;
  std::string log;  // why it is refused: whole lines
};

// Ends with the first option that is wrong. What is missing or contradictory is said only where
// each option is good by itself.
OptionReading ReadOptions(std::span<const std::string_view> options);

}  // namespace devlink::nvjitlink
