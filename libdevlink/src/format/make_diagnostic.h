// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "devlink/diagnostics.h"

namespace devlink::format {

// What a step has to say of one input: nvlink's words, and a note of ours where there is one.
inline Diagnostic MakeDiagnostic(Severity severity, DiagnosticCode code, std::string_view input,
                                 std::string text, std::string note = {}) {
  Diagnostic out;
  out.code = code;
  out.severity = severity;
  out.text = std::move(text);
  out.input = input;
  if (!note.empty()) out.notes.push_back(std::move(note));
  return out;
}

// nvlink has no words for most damage.
inline std::string DamagedText(std::string_view input) {
  return base::Cat({"Input file '", input, "' is damaged"});
}

}  // namespace devlink::format
