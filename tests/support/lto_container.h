// SPDX-License-Identifier: Apache-2.0
//
// Containers of LTO IR as libNVVM takes them, unprotected; made byte by byte, independent of the
// library's own writer.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "devlink/arch.h"

namespace devlink::testing {

// `payload` stands for the bitcode; a linker does not look at it.
std::vector<std::uint8_t> MakeLtoContainer(Arch arch, std::string_view payload);

}  // namespace devlink::testing
