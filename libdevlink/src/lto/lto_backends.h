// SPDX-License-Identifier: Apache-2.0
//
// The ways to compile LTO IR.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/experimental/lto_compiler.h"

namespace devlink::internal {

// What the two are called (LtoCompiler::name).
inline constexpr std::string_view kNvvmName = "libNVVM";
inline constexpr std::string_view kNvJitLinkName = "libnvJitLink";

// Whether the options let the one or the other become the compiler. Where both may, libNVVM is
// tried first.
inline bool MayBeNvvm(const LtoBackendOptions& options) {
  return !options.nvvm_path.empty() &&
         (options.backend == LtoBackend::kNvvm ||
          (options.backend == LtoBackend::kAutomatic && !options.needs_protected));
}
inline bool MayBeNvJitLink(const LtoBackendOptions& options) {
  return !options.nvjitlink_path.empty() && options.backend != LtoBackend::kNvvm;
}

// Each expects its path in the options to be set.
absl::StatusOr<std::unique_ptr<LtoCompiler>> OpenNvvmCompiler(const LtoBackendOptions& options);
absl::StatusOr<std::unique_ptr<LtoCompiler>> OpenNvJitLinkCompiler(
    const LtoBackendOptions& options);

inline bool HasWord(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether the words let libNVVM decide what a program is. With --force-device-c it is never a whole
// one, as far as a link is concerned; without --device-c always.
inline bool IsForcedPartial(const std::vector<std::string>& words) {
  return HasWord(words, "--force-device-c");
}

// Pieces come in the order in which the compiler's threads end. What they are does not vary, so
// they are put into an order of their own.
inline void OrderPieces(std::vector<std::string>& pieces) {
  std::sort(pieces.begin(), pieces.end());
}

}  // namespace devlink::internal
