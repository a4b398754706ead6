// SPDX-License-Identifier: Apache-2.0
//
// --icf=safe: of device functions that are the same, one stays.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/program.h"

namespace devlink::internal {

struct Folded {
  Program program;
  // Functions that nobody refers to any more, each with the one that took its place.
  std::vector<std::pair<FunctionId, FunctionId>> replaced;
};

// A function is replaced by an earlier one that has the same code, references, attributes and
// resources and calls the same functions, those that are the same themselves counting as one.
// Kernels, functions whose address is taken, functions with constants of their own, aliases,
// functions that call themselves, however indirectly, and those in `stay` are left as they are.
// Linear in code, records, relocations and calls.
Folded FoldIdentical(Program program, std::span<const FunctionId> stay);

}  // namespace devlink::internal
