// SPDX-License-Identifier: Apache-2.0
//
// What -Werror and -disable-infos make of a warning.
#pragma once

#include <optional>

#include "devlink/diagnostics.h"

namespace devlink::base {

// Found with nvlink 13.0 for every warning that it has (stack sizes, missing architectures, skipped
// libraries, -dlto without LTO IR): what is suppressed is not an error either, and information is
// printed in any case, in spite of the option's name.
struct SeverityPolicy {
  bool warnings_are_errors = false;  // -Werror
  bool suppress_warnings = false;    // -disable-infos

  // What a finding counts as; nothing where it is not to be mentioned.
  [[nodiscard]] constexpr std::optional<Severity> Judge(Severity severity) const {
    if (severity != Severity::kWarning) return severity;
    if (suppress_warnings) return std::nullopt;
    return warnings_are_errors ? Severity::kError : Severity::kWarning;
  }
};

}  // namespace devlink::base
