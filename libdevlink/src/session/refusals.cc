// SPDX-License-Identifier: Apache-2.0
#include "session/refusals.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "format/make_diagnostic.h"
#include "format/views.h"

namespace devlink::internal {

absl::Status ReportInternalError(absl::Status status, std::vector<Diagnostic>& diagnostics) {
  diagnostics.push_back(
      format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput, "",
                             absl::StrCat("Internal error: ", status.message()),
                             "this is a fault of the linker; please report it with its inputs"));
  return status;
}

absl::Status ReportUnwritable(absl::Status status, Arch target,
                              std::vector<Diagnostic>& diagnostics) {
  if (!format::HasTwoViews(target.number)) {
    return ReportInternalError(std::move(status), diagnostics);
  }
  if (absl::IsUnimplemented(status)) {
    return Unsupported(base::FromAbsl(status.message()), "compile it with a later release",
                       diagnostics);
  }
  diagnostics.push_back(
      format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput, "",
                             std::string(base::FromAbsl(status.message())),
                             "an input is damaged: its two views do not belong together"));
  return status;
}

absl::Status Unsupported(std::string_view what, std::string_view note,
                         std::vector<Diagnostic>& diagnostics) {
  diagnostics.push_back(format::MakeDiagnostic(Severity::kFatal,
                                               DiagnosticCode::kUnsupportedFeature, "",
                                               std::string(what), std::string(note)));
  return absl::UnimplementedError(base::ToAbsl(what));
}

absl::Status RefuseLostTable(std::string_view function, std::vector<Diagnostic>& diagnostics) {
  return Unsupported(base::Cat({"nvlink -r has overwritten the jump table of '", function,
                                "', and only NVIDIA's finalizer restores it"}),
                     "link the files themselves, or what devlink -r makes of them", diagnostics);
}

}  // namespace devlink::internal
