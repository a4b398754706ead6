// SPDX-License-Identifier: Apache-2.0
//
// The output of a link for sm_100 and later: NVIDIA's finalizer links the cubins, and its file is
// taken over. That the program is sound was found before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "link/liveness.h"
#include "model/program.h"
#include "plan/link_context.h"
#include "plan/link_order.h"

namespace devlink::internal {

// What is known of the program, by its machine code.
struct FinalizedProgram {
  const Program& program;
  const Liveness& liveness;
  bool code_is_fit = true;  // for the target, without the finalizer
};

// The finalizer's file, with devlink's record. Nothing where its use was forbidden, where the
// options leave it the choice and there is none or it fails (then `diagnostics` say why), and for a
// partial link that leaves all references to the next one, which it cannot do.
absl::StatusOr<std::optional<std::vector<std::uint8_t>>> FinalizeLink(
    const LinkSet& set, const FinalizedProgram& program, const LinkOptions& options,
    const LinkContext& context, std::vector<Diagnostic>& diagnostics);

// The finalizer's file beside the one that the same link makes without it, if it can.
struct FileToJudge {
  std::vector<std::uint8_t> finalized;
  const absl::StatusOr<std::vector<std::uint8_t>>& own;
  bool own_is_fit = true;    // its code is for the target, so that it could be written
  bool told_others = false;  // the finalizer was told of kernels other than nvlink is
};

struct JudgedFile {
  std::vector<std::uint8_t> cubin;
  bool is_own = false;  // it is the one made without the finalizer
  // Functions of which the finalizer changed the code; nothing where that cannot be told.
  std::optional<std::vector<std::string>> finalized;
};

// Which of the two is the output. The finalizer's, with our attributes where it was told of other
// kernels, unless it is another program than the one that was linked: then `diagnostics` say where,
// and the file is ours, or there is none where the options insist on the finalizer. With
// --compat=nvlink it is always the finalizer's, as nvlink's is, but with -suppress-debug-info.
absl::StatusOr<JudgedFile> JudgeFinalized(FileToJudge files, const LinkOptions& options,
                                          const LinkContext& context,
                                          std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
