// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/ptx_assembler.h"

namespace devlink::internal {

// nvlink's words for PTX of `input` that does not become a cubin, and ours.
Diagnostic MakeAssemblyError(const std::string& input, std::string note);

// Moves what the assembler said of one text to `found`, with nvlink's line behind it where it
// failed; `which` says there whose text it was. The assembler's status.
absl::Status TakeAssemblerLines(const std::string& input, std::string which, PtxResult& result,
                                std::vector<Diagnostic>& found);

}  // namespace devlink::internal
