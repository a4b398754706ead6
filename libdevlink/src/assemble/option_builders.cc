// SPDX-License-Identifier: Apache-2.0
#include "assemble/option_builders.h"

#include <utility>

#include "base/strings.h"
#include "format/make_diagnostic.h"

namespace devlink::internal {

std::string_view FastCompileWord(FastCompile level) {
  switch (level) {
    case FastCompile::kMin:
      return "min";
    case FastCompile::kMid:
      return "mid";
    case FastCompile::kMax:
      return "max";
    case FastCompile::kOff:
      break;
  }
  return "";
}

absl::Status RefuseOption(std::vector<Diagnostic>* found, std::string text, std::string note) {
  absl::Status status = absl::InvalidArgumentError(base::ToAbsl(base::Cat({text, ": ", note})));
  if (found != nullptr) {
    found->push_back(format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUsage, "",
                                            std::move(text), std::move(note)));
  }
  return status;
}

}  // namespace devlink::internal
