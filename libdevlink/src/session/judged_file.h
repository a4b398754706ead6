// SPDX-License-Identifier: Apache-2.0
//
// Whether the file of NVIDIA's finalizer is the program that was linked, or our own is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "plan/link_context.h"

namespace devlink::internal {

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

// The code is as the assembler made it, and why; an error where the options insist on the
// finalizer.
absl::Status GoWithoutFinalizer(std::string_view what, const absl::Status& why,
                                const LinkOptions& options, std::vector<Diagnostic>& diagnostics);

// There is no output.
absl::Status FailFinalizing(const absl::Status& status, std::string_view what,
                            std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
