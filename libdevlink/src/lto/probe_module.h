// SPDX-License-Identifier: Apache-2.0
//
// A module that shows whether libNVVM takes a program for a whole one, where its result code cannot
// be seen: it holds one function that nothing calls. In a whole program libNVVM removes it; where
// code is to be linked to the program, it stays in the PTX. The same decision is the result code.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/experimental/lto_ir.h"

namespace devlink::internal {

inline constexpr std::string_view kProbeName = "__devlink_whole_program_probe";

absl::StatusOr<std::vector<std::uint8_t>> MakeProbeModule(Arch target);

}  // namespace devlink::internal
