// SPDX-License-Identifier: Apache-2.0
//
// Where NVIDIA's compilers lie on this machine, as far as the process that runs the command knows.
#pragma once

#include <string>
#include <string_view>

#include "devlink/link_options.h"
#include "devlink/nvlink_command.h"
#include "devlink/toolkit_profile.h"

namespace devlink::internal {

// Fills in the paths that are not set: of libdevlink_ptxcompiler.so beside the program, of ptxas
// and libnvJitLink of the first toolkit on PATH; where ptxas may write; and with LTO the libraries
// that compile LTO IR.
//
// libNVVM lies in the place that was given (-nvvmpath), or, unless nvlink's behaviour is wanted,
// near that place or in the toolkit of ptxas.
void FindTools(const CommandContext& context, const LinkOptions& options,
               ToolchainOptions& toolchain);

// The path of a library of devlink's own beside the program or in ../lib; empty where it is in
// neither, or where the program's place is not known.
std::string BesideProgram(const CommandContext& context, std::string_view library);

// Whether nvlink's behaviour is wanted, which is to open libNVVM before any input, and the place
// that was given has none.
bool LacksLtoLibrary(const LinkOptions& options, const ToolchainOptions& toolchain);

// Messages say how a person names what is missing.
void AdviseOnTools(ToolchainOptions& toolchain);

// The profile of the release that the headers beside a ptxas name: the oldest and the newest that
// there is for releases before and behind them, and the default one where there are no headers.
ToolkitProfile ProfileOfToolkit(const std::string& ptxas);

}  // namespace devlink::internal
