// SPDX-License-Identifier: Apache-2.0
//
// Whether the finalizer linked the program that we linked. It may change code and whatever says
// where something lies in it; functions, variables, their contents and what refers to what are not
// its.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

struct Agreement {
  // The first that differs, in words: "the symbol 'f'", "the section '.nv.global.init'". Empty
  // where both are the same program.
  std::string difference;
  std::vector<std::string> finalized;  // functions of which the code differs, in the file's order
};

// Of the finalizer's file and of the one that the same link writes without it. InvalidArgument
// where one of them cannot be read.
absl::StatusOr<Agreement> CompareWithOwn(base::Bytes finalized, base::Bytes own);

// What the function is called whose code is in a section of this name.
std::string_view FunctionOfCode(std::string_view section);

}  // namespace devlink::internal
