// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/code_choice.h
//
// Which of the codes in a fat binary a link for one architecture takes.
#pragma once

#include <cstdint>

namespace devlink {

// What a member of a fat binary, or an input file, is.
enum class CodeKind : std::uint8_t {
  kOther,  // a kind that libdevlink does not know: never taken
  kPtx,    // PTX text
  kSass,   // a cubin
  kNvvm,   // LTO IR
};

}  // namespace devlink
