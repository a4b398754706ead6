// SPDX-License-Identifier: Apache-2.0
//
// What inputs contradict each other in, as diagnostics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/severity_policy.h"
#include "devlink/diagnostics.h"
#include "devlink/toolkit_profile.h"
#include "merge/input_state.h"
#include "merge/program_builder.h"
#include "model/program.h"

namespace devlink::internal {

class MergeFindings {
 public:
  // Both are borrowed.
  MergeFindings(std::span<const LinkInput> inputs, Compatibility compatibility,
                std::vector<Diagnostic>& diagnostics)
      : inputs_(inputs), compatibility_(compatibility), diagnostics_(diagnostics) {}

  // Findings from here on are those of one input.
  void Begin(InputId input) { input_ = input; }

  // `what` about a symbol, and where it was defined or specified first.
  void Report(const ProgramBuilder& builder, DiagnosticCode code, std::string_view what,
              SymbolId first);
  void ReportText(const Program& program, DiagnosticCode code, std::string text, SymbolId symbol);
  // nvlink finds that when it comes to a bank of `InputState::odd_banks`; once for each.
  void ReportOddBank(const Program& program, InputState& input, std::uint32_t section) {
    if (section < input.odd_banks.size() && input.odd_banks[section] != kNone) {
      ReportBankSizes(program, std::exchange(input.odd_banks[section], kNone));
    }
  }
  // Something of this input that no rule of the merge takes: going on would lose it in silence.
  void ReportLost(std::string what);
  // Tensor memory is allocated in two ways; the input brings `symbol`, of the second one.
  void ReportTensorMemoryVersions(const Program& program, SymbolId symbol);
  // This input has two definitions of one name, not both strong, as none from a compiler or linker
  // does.
  void ReportDefinedTwice(std::string_view name);
  // This input states how something is called that another says is a variable.
  void NoteCalledVariable() { called_variable_ = true; }
  // Of inputs that stand beside an extensible whole program each that is neither such a one nor, by
  // its name, the device runtime.
  void WarnOfExtensible(base::SeverityPolicy severities);
  // What -r writes has no place for what their assembler placed: nvlink's next link loses it.
  void RefuseExtensible();
  // This input does not say what the output may run on.
  void WarnOfLimit(std::uint32_t sm, base::SeverityPolicy severities);
  // Adds nvlink's last word on an input that could not be merged.
  void ReportFailure();

  // Two inputs must agree on how a function is called.
  void CheckPrototype(ProgramBuilder& builder, SymbolId symbol, std::uint32_t prototype);

  // Of everything so far; tells whether a check has found something.
  [[nodiscard]] std::size_t count() const { return diagnostics_.size(); }
  [[nodiscard]] const absl::Status& status() const { return status_; }
  [[nodiscard]] bool as_nvlink() const { return compatibility_ == Compatibility::kNvlink; }
  [[nodiscard]] const std::string& NameOf(InputId input) const { return inputs_[input].name; }
  [[nodiscard]] const std::string& CurrentName() const { return inputs_[input_].name; }

 private:
  void Warn(DiagnosticCode code, std::string text, base::SeverityPolicy severities);
  void ReportBankSizes(const Program& program, SymbolId kernel);

  std::span<const LinkInput> inputs_;
  const Compatibility compatibility_;
  std::vector<Diagnostic>& diagnostics_;
  InputId input_ = 0;
  absl::Status status_;
  bool called_variable_ = false;
};

}  // namespace devlink::internal
