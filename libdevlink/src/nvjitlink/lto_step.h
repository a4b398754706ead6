// SPDX-License-Identifier: Apache-2.0
//
// All LTO IR of a handle to PTX, and that to cubins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nvjitlink/abi.h"
#include "nvjitlink/assembly.h"
#include "nvjitlink/logs.h"
#include "nvjitlink/option_reader.h"

namespace devlink::nvjitlink {

// One module.
struct LtoInput {
  std::string name;
  std::vector<std::uint8_t> bytes;  // as LtoModule has them
  bool is_protected = false;
  std::optional<std::string> stored_options;  // of a member of a fat binary
};

struct LtoMade {
  Result result = Result::kSuccess;
  std::string ptx;                                // with Options::ptx this, and no cubin
  std::vector<std::vector<std::uint8_t>> cubins;  // of the pieces
  bool is_whole = false;                          // the one cubin is the output
  std::uint64_t ptx_nanoseconds = 0;              // that the PTX took
};

// `has_other_code`: what comes out is linked with other inputs.
LtoMade CompileLto(std::span<const LtoInput> inputs, bool has_other_code, const Options& options,
                   const Tools& tools, Logs& logs);

}  // namespace devlink::nvjitlink
