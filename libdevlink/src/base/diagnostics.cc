// SPDX-License-Identifier: Apache-2.0
#include "devlink/diagnostics.h"

#include "base/strings.h"
#include "base/visible_text.h"

namespace devlink {

namespace {

// nvlink pads the kind to eight columns.
std::string_view KindText(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info    ";
    case Severity::kWarning:
      return "warning ";
    case Severity::kError:
      return "error   ";
    case Severity::kFatal:
      return "fatal   ";
  }
  return "fatal   ";
}

}  // namespace

std::string RenderDiagnostic(const Diagnostic& diagnostic, std::string_view tool) {
  std::string out;
  if (diagnostic.verbatim) {
    out = base::Cat({base::VisibleText(diagnostic.text), "\n"});
  } else if (!diagnostic.text.empty()) {
    out = base::Cat(
        {tool, " ", KindText(diagnostic.severity), ": ", base::VisibleText(diagnostic.text), "\n"});
  }
  for (const std::string& note : diagnostic.notes) {
    out += base::Cat({tool, " note    : ", base::VisibleText(note), "\n"});
  }
  return out;
}

}  // namespace devlink
