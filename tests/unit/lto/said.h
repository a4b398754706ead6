// SPDX-License-Identifier: Apache-2.0
//
// What tests of compilers look at, as texts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"

namespace devlink::testing {

inline constexpr Arch kSm90 = {90, 0};

inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

inline std::string Rendered(const std::vector<Diagnostic>& diagnostics, bool with_notes = true) {
  std::string out;
  for (Diagnostic diagnostic : diagnostics) {
    if (!with_notes) diagnostic.notes.clear();
    out += RenderDiagnostic(diagnostic, "nvlink");
  }
  return out;
}

}  // namespace devlink::testing
