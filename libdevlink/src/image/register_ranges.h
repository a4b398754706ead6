// SPDX-License-Identifier: Apache-2.0
//
// `.nv_debug_info_reg_sass` of machine code in a file with two views: for each function the places
// in its code at which registers hold variables. nvlink clears those of code that goes
// (docs/mercury.md, "Registers").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "model/program.h"

namespace devlink::internal {

// `stays(name, offset)`: whether the code of the function, whose list begins there, is in the
// output. Nothing where the bytes are not such lists.
std::optional<std::vector<std::uint8_t>> KeepRegisterRanges(
    const Section& section, const std::function<bool(std::string_view, std::uint64_t)>& stays);

}  // namespace devlink::internal
