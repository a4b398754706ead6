// SPDX-License-Identifier: Apache-2.0
//
// PTX to a cubin, with the words that nvJitLink's options are for the assembler.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "devlink/link_options.h"
#include "devlink/toolchain.h"
#include "nvjitlink/abi.h"
#include "nvjitlink/logs.h"
#include "nvjitlink/option_reader.h"

namespace devlink::nvjitlink {

// What a handle works with. Borrowed.
struct Tools {
  const Environment& environment;
  Toolchain& toolchain;
  ToolkitProfile profile;  // of what is written
};

// How the name of what became of LTO IR stands in logs.
inline constexpr std::string_view kLtoPtxName = "ltoPtx";

// `is_whole`: a program that nothing is linked to. The text need not end with a NUL. The logs get
// the assembler's lines.
Result AssemblePtx(std::string_view name, std::string_view text, bool is_whole,
                   const Options& options, const Tools& tools, std::vector<std::uint8_t>& cubin,
                   Logs& logs);

}  // namespace devlink::nvjitlink
