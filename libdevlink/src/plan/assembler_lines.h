// SPDX-License-Identifier: Apache-2.0
//
// What the assembler is asked in a link, and what it answers.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/ptx_assembler.h"
#include "devlink/experimental/ptxas_options.h"
#include "devlink/link_options.h"
#include "plan/link_context.h"

namespace devlink::internal {

// What a link gives the assembler for any PTX; what depends on the text is still to be set.
PtxasOptionBuilder AssemblerOptions(const LinkOptions& options, Arch target);

// The assembler of the toolchain. `name` is that of a text to be assembled; where there is nothing
// to assemble it with, `diagnostics` gets nvlink's words for that.
absl::StatusOr<const PtxAssembler*> OpenAssembler(const std::string& name,
                                                  const LinkOptions& options,
                                                  const LinkContext& context,
                                                  std::vector<Diagnostic>& diagnostics);

// nvlink's words for PTX of `input` that does not become a cubin, and ours.
Diagnostic MakeAssemblyError(const std::string& input, std::string note);

// Moves what the assembler said of one text to `found`, with nvlink's line behind it where it
// failed; `which` says there whose text it was. The assembler's status.
absl::Status TakeAssemblerLines(const std::string& input, std::string which, PtxResult& result,
                                std::vector<Diagnostic>& found);

}  // namespace devlink::internal
