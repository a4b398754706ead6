// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/logs.h"

#include "assemble/ptx_log.h"
#include "base/strings.h"

namespace devlink::nvjitlink {

namespace {

std::string LinesOf(const Diagnostic& finding) {
  if (finding.verbatim) {
    const bool continues =
        finding.code == DiagnosticCode::kPtxAssembly && finding.text.starts_with(' ');
    return base::Cat({continues ? internal::kContinuationMark : "", finding.text, "\n"});
  }
  Diagnostic alone = finding;
  alone.notes.clear();
  const std::string lines = RenderDiagnostic(alone, "");
  return lines.starts_with(' ') ? lines.substr(1) : lines;
}

}  // namespace

void Logs::Time(std::string_view what, std::uint64_t nanoseconds) {
  constexpr double kPerMillisecond = 1e6;
  Info(base::Cat({what, ": ", std::to_string(static_cast<double>(nanoseconds) / kPerMillisecond)}));
}

void Logs::Add(std::span<const Diagnostic> findings) {
  for (const Diagnostic& finding : findings) {
    // That the code is not what NVIDIA's library would have made of it is to be seen.
    if (finding.text.empty() && finding.code == DiagnosticCode::kUnsupportedFeature) {
      info_ += RenderDiagnostic(finding, "devlink");
    }
    if (finding.text.empty()) continue;
    (finding.severity >= Severity::kError ? error_ : info_) += LinesOf(finding);
  }
}

}  // namespace devlink::nvjitlink
