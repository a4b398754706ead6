// SPDX-License-Identifier: Apache-2.0
//
// What the builders of option vectors have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/ptxas_options.h"

namespace devlink::internal {

// The word that ptxas and libNVVM have for a level: "min", "mid", "max"; kOff has none.
std::string_view FastCompileWord(FastCompile level);

// An option with which nvlink ends the link: adds its fatal line `text`, with `note`, to `found`
// where that is given. InvalidArgument with both.
absl::Status RefuseOption(std::vector<Diagnostic>* found, std::string text, std::string note);

}  // namespace devlink::internal
