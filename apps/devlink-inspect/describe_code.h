// SPDX-License-Identifier: Apache-2.0
//
// Code that is not compiled yet: PTX and LTO IR.
#pragma once

#include <string_view>

#include "base/bounded_reader.h"
#include "devlink-inspect/describe_cubin.h"
#include "devlink-inspect/report.h"

namespace devlink::inspect {

// Versions, and the kernels, functions and variables at the outermost level. Takes any text.
void DescribePtx(std::string_view text, const Choice& choice, Report& report);

// What the container's header says; the code in it is for compilers.
void DescribeLtoIr(base::Bytes bytes, Report& report);

}  // namespace devlink::inspect
