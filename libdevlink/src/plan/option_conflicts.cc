// SPDX-License-Identifier: Apache-2.0
#include "plan/option_conflicts.h"

#include <string_view>

#include "base/status_macros.h"
#include "base/strings.h"
#include "format/nvlink_text.h"

namespace devlink::internal {

namespace {

absl::Status Conflict(std::string_view one, std::string_view other) {
  return absl::InvalidArgumentError(format::nvlink_text::ConflictingOptions(one, other));
}

}  // namespace

absl::Status CheckDebugOptions(const LinkOptions& options) {
  if (options.suppress_debug_info && !options.debug) {
    return Conflict("-suppress-debug-info", "no -g");
  }
  return absl::OkStatus();
}

absl::Status CheckLtoOptions(const LinkOptions& options) {
  const LtoOptions& lto = options.lto;
  if (!lto.enabled) {
    constexpr std::string_view kNoLto = "no -dlto";
    if (lto.force_partial) return Conflict("-force-partial-lto", kNoLto);
    if (lto.force_whole) return Conflict("-force-whole-lto", kNoLto);
    if (lto.emit_ptx) return Conflict("-emit-ptx", kNoLto);
    if (lto.fast_compile) return Conflict("--Ofast-compile", kNoLto);
    return absl::OkStatus();
  }
  // nvlink says the same of -r: what is linked again is not the whole program.
  if (lto.force_whole && (lto.force_partial || options.relocatable)) {
    return Conflict("-force-partial-lto", "-force-whole-lto");
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const LinkOptions& options) {
  DEVLINK_RETURN_IF_ERROR(CheckDebugOptions(options));
  return CheckLtoOptions(options);
}

}  // namespace devlink::internal
