// SPDX-License-Identifier: Apache-2.0
#include "session/assembler_lines.h"

#include <iterator>
#include <utility>

namespace devlink::internal {

Diagnostic MakeAssemblyError(const std::string& input) {
  Diagnostic out;
  out.code = DiagnosticCode::kMalformedInput;
  out.severity = Severity::kFatal;
  out.text = "elfLink fatbinary error";
  out.input = input;
  return out;
}

absl::Status TakeAssemblerLines(const std::string& input, std::string which, PtxResult& result,
                                std::vector<Diagnostic>& found) {
  const bool silent = result.diagnostics.empty();
  std::move(result.diagnostics.begin(), result.diagnostics.end(), std::back_inserter(found));
  if (result.status.ok()) return absl::OkStatus();
  Diagnostic fatal = MakeAssemblyError(input);
  fatal.notes.push_back(std::move(which));
  const absl::string_view why = result.status.message();
  if (silent) fatal.notes.emplace_back(why.data(), why.size());
  found.push_back(std::move(fatal));
  return result.status;
}

}  // namespace devlink::internal
