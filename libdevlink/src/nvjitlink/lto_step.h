// SPDX-License-Identifier: Apache-2.0
//
// All LTO IR of a handle to PTX, and that to cubins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "devlink/experimental/cicc_option_builder.h"
#include "nvjitlink/abi.h"
#include "nvjitlink/assembly.h"
#include "nvjitlink/logs.h"
#include "nvjitlink/option_reader.h"

namespace devlink::nvjitlink {

// One module. What a fat binary says of the options that it was compiled with does not count.
struct LtoInput {
  std::string name;
  std::vector<std::uint8_t> bytes;  // as LtoModule has them
  bool is_protected = false;
};

struct LtoMade {
  Result result = Result::kSuccess;
  std::string ptx;                                // with Options::ptx this, and no cubin
  std::vector<std::vector<std::uint8_t>> cubins;  // of the pieces
  bool has_ptx = false;                           // libNVVM has compiled them, whatever came then
  bool is_whole = false;                          // the one cubin is the output
};

// `scope`: anything but kWhole is linked with other inputs.
LtoMade CompileLto(std::span<const LtoInput> inputs, LtoScope scope, const Options& options,
                   const Tools& tools, Logs& logs);

// The modules as one, in the container of LTO IR. Not of protected ones, which only NVIDIA's
// libraries open, and none of them writes.
Result LinkLtoIr(std::span<const LtoInput> inputs, const Options& options, const Tools& tools,
                 std::string& ltoir, Logs& logs);

}  // namespace devlink::nvjitlink
