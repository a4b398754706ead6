// SPDX-License-Identifier: Apache-2.0
//
// What inputs contradict each other in, as diagnostics.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "model/program.h"

namespace devlink::internal {

class MergeFindings {
 public:
  // Both are borrowed.
  MergeFindings(std::span<const LinkInput> inputs, std::vector<Diagnostic>& diagnostics)
      : inputs_(inputs), diagnostics_(diagnostics) {}

  // Findings from here on are those of one input.
  void Begin(InputId input) { input_ = input; }

  // `what` about a symbol, and where it was defined or specified first.
  void Report(const Program& program, DiagnosticCode code, std::string_view what, SymbolId first);
  void ReportText(const Program& program, DiagnosticCode code, std::string text, SymbolId symbol);
  // Something of this input that no rule of the merge takes: going on would lose it in silence.
  void ReportLost(std::string what);
  // Adds nvlink's last word on an input that could not be merged.
  void ReportFailure();

  // Two inputs must agree on how a function is called.
  void CheckPrototype(Program& program, SymbolId symbol, std::uint32_t prototype);

  // Of everything so far; tells whether a check has found something.
  [[nodiscard]] std::size_t count() const { return diagnostics_.size(); }
  [[nodiscard]] const absl::Status& status() const { return status_; }
  [[nodiscard]] const std::string& NameOf(InputId input) const { return inputs_[input].name; }
  [[nodiscard]] const std::string& CurrentName() const { return inputs_[input_].name; }

 private:
  std::span<const LinkInput> inputs_;
  std::vector<Diagnostic>& diagnostics_;
  InputId input_ = 0;
  absl::Status status_;
};

}  // namespace devlink::internal
