// SPDX-License-Identifier: Apache-2.0
//
// Link-time optimization as one step of a link: from LTO IR to PTX.
#pragma once

#include <string>
#include <vector>

#include "devlink/cicc_option_builder.h"
#include "devlink/ptxas_options.h"

namespace devlink::internal {

// What libNVVM made of all LTO IR of a link.
struct LtoProduct {
  std::vector<std::string> pieces;  // PTX
  // The one piece is the whole program: assembled without -c it is the output.
  bool is_whole_program = false;
  // What the assembler is told besides what it is told for any PTX.
  int max_registers = 0;
  int split_compile = 1;
};

}  // namespace devlink::internal
