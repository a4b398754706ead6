// SPDX-License-Identifier: Apache-2.0
#include "merge/findings.h"

#include <algorithm>
#include <utility>

#include "base/demangle.h"
#include "base/strings.h"
#include "format/driver_names.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "model/module.h"

namespace devlink::internal {

namespace {

bool IsExtensible(const LinkInput& input) { return input.module->sass().extensible(); }

}  // namespace

void MergeFindings::Report(const ProgramBuilder& builder, DiagnosticCode code,
                           std::string_view what, SymbolId first) {
  const Symbol& symbol = builder.program.symbols[first];
  using format::nvlink_text::FirstWas;
  const bool defined =
      code == DiagnosticCode::kMultipleDefinition || code == DiagnosticCode::kPrototypeMismatch;
  ReportText(builder.program, code,
             format::nvlink_text::Disagreement(what, symbol.name, CurrentName(),
                                               defined ? FirstWas::kDefined : FirstWas::kSpecified,
                                               inputs_[builder.FirstInput(first)].name),
             first);
}

void MergeFindings::ReportText(const Program& program, DiagnosticCode code, std::string text,
                               SymbolId symbol) {
  const std::string name(program.symbols[symbol].name);
  std::vector<std::string> notes;
  const std::string readable = base::Demangle(name);
  if (readable != name) notes.push_back(base::Cat({"'", name, "' is ", readable}));
  if (status_.ok()) {
    const absl::string_view message = base::ToAbsl(text);
    status_ = code == DiagnosticCode::kMultipleDefinition ? absl::AlreadyExistsError(message)
                                                          : absl::FailedPreconditionError(message);
  }
  diagnostics_.push_back({.code = code,
                          .severity = Severity::kError,
                          .text = std::move(text),
                          .symbol = name,
                          .input = CurrentName(),
                          .notes = std::move(notes)});
}

void MergeFindings::ReportBankSizes(const Program& program, SymbolId kernel) {
  ReportText(program, DiagnosticCode::kSizeMismatch,
             format::nvlink_text::ParameterBankSizes(program.symbols[kernel].name), kernel);
}

void MergeFindings::ReportTensorMemoryVersions(const Program& program, SymbolId symbol) {
  ReportText(program, DiagnosticCode::kAbiMismatch,
             format::nvlink_text::TensorMemoryVersions(CurrentName()), symbol);
}

void MergeFindings::ReportDefinedTwice(std::string_view name) {
  ReportLost(
      base::Cat({"'", name, "' is defined in it twice, and only one definition could stay"}));
}

void MergeFindings::ReportLost(std::string what) {
  if (!status_.ok()) return;  // one is enough to say what is wrong with the input
  std::string text = format::DamagedText(CurrentName());
  status_ = absl::InvalidArgumentError(base::ToAbsl(text));
  diagnostics_.push_back({.code = DiagnosticCode::kMalformedInput,
                          .severity = Severity::kError,
                          .text = std::move(text),
                          .symbol = "",
                          .input = CurrentName(),
                          .notes = {std::move(what)}});
}

void MergeFindings::RefuseExtensible() {
  const auto found = std::ranges::find_if(inputs_, IsExtensible);
  if (found == inputs_.end()) return;
  std::string text = base::Cat({"Input file '", found->name, "' cannot be linked with -r"});
  status_ = absl::UnimplementedError(base::ToAbsl(text));
  diagnostics_.push_back(
      {.code = DiagnosticCode::kUnsupportedFeature,
       .severity = Severity::kFatal,
       .text = std::move(text),
       .symbol = "",
       .input = found->name,
       .notes = {"it was compiled with -ewp, and the link behind this one would lose the shared "
                 "memory of its kernels: link without -r, or compile with -rdc=true"}});
}

void MergeFindings::WarnOfExtensible(base::SeverityPolicy severities) {
  if (std::ranges::none_of(inputs_, IsExtensible)) return;
  for (InputId id = 0; id < inputs_.size(); ++id) {
    const LinkInput& input = inputs_[id];
    if (IsExtensible(input) || input.name.find(format::kDeviceRuntimeName) != std::string::npos)
      continue;
    Begin(id);
    Warn(DiagnosticCode::kAbiMismatch, format::nvlink_text::NotForExtensible(input.name),
         severities);
  }
}

void MergeFindings::WarnOfLimit(std::uint32_t sm, base::SeverityPolicy severities) {
  Warn(DiagnosticCode::kArchMismatch, format::nvlink_text::LimitedToArch(sm, CurrentName()),
       severities);
}

void MergeFindings::Warn(DiagnosticCode code, std::string text, base::SeverityPolicy severities) {
  const auto severity = severities.Judge(Severity::kWarning);
  if (!severity) return;
  if (*severity == Severity::kError && status_.ok()) {
    status_ = absl::FailedPreconditionError(base::ToAbsl(text));
  }
  diagnostics_.push_back({.code = code,
                          .severity = *severity,
                          .text = std::move(text),
                          .symbol = "",
                          .input = CurrentName(),
                          .notes = {}});
}

void MergeFindings::ReportFailure() {
  // nvlink comes upon a variable where its call graph has none, and gives that as the reason.
  const bool confused = called_variable_ && as_nvlink();
  diagnostics_.push_back({.code = DiagnosticCode::kMergeFailed,
                          .severity = Severity::kFatal,
                          .text = std::string(confused ? format::nvlink_text::kNoCallGraphNode
                                                       : format::nvlink_text::kMergeFailed),
                          .symbol = "",
                          .input = CurrentName(),
                          .notes = {}});
}

namespace {

// Behind a bar stands what compilers say differently of system functions: `#vlll|12p4r20s...`.
// nvlink does not look at it.
bool HasSameSignature(std::string_view a, std::string_view b) {
  return a.substr(0, a.find('|')) == b.substr(0, b.find('|'));
}

}  // namespace

void MergeFindings::CheckPrototype(ProgramBuilder& builder, SymbolId symbol,
                                   std::uint32_t prototype) {
  Function& function = builder.program.functions[builder.program.symbols[symbol].function];
  const char* const texts = builder.program.prototypes.c_str();
  if (function.prototype != kNone && function.prototype != prototype &&
      !HasSameSignature(texts + function.prototype - 1, texts + prototype - 1)) {
    Report(builder, DiagnosticCode::kPrototypeMismatch, format::nvlink_text::kPrototype, symbol);
    return;
  }
  function.prototype = prototype;
}

}  // namespace devlink::internal
