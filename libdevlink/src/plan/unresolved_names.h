// SPDX-License-Identifier: Apache-2.0
//
// What is undefined in a program that link-time optimization made: of that only the assembler
// speaks, and only of the first name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "devlink/diagnostics.h"

namespace devlink::internal {

// Adds to the assembler's lines of an unresolved name, whose code they get, what the PTX tells: who
// uses it, what is called almost so, and what else is undefined.
void ExplainUnresolved(std::span<const std::string> ptx, std::vector<Diagnostic>& lines);

}  // namespace devlink::internal
