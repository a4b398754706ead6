// SPDX-License-Identifier: Apache-2.0
//
// What the C interface tells of a link whose options ask for details.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "c_api/objects.h"
#include "c_api/session.h"
#include "devlink/experimental/link_explanation.h"
#include "devlink/link_report.h"

namespace c_api = devlink::c_api;

namespace {

using devlink::LinkReport;

// The words that `make` finds for a link.
dl_status WriteExplanation(
    const dl_outcome* outcome, dl_string** out, dl_error** error,
    absl::FunctionRef<absl::StatusOr<std::string>(const LinkReport&)> make) noexcept {
  return c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_string>> {
    if (outcome == nullptr) return c_api::Missing("the outcome");
    DEVLINK_ASSIGN_OR_RETURN(std::string text, make(outcome->outcome.report));
    return c_api::NewString(std::move(text));
  });
}

// The same of something that has a name.
dl_status ExplainWhy(const dl_outcome* outcome, const char* name, const char* what, dl_string** out,
                     dl_error** error,
                     absl::StatusOr<std::string> (*why)(const LinkReport&,
                                                        std::string_view)) noexcept {
  return WriteExplanation(outcome, out, error,
                          [&](const LinkReport& report) -> absl::StatusOr<std::string> {
                            if (name == nullptr) return c_api::Missing(what);
                            return why(report, name);
                          });
}

}  // namespace

extern "C" {

dl_status dl_outcome_report_html(const dl_outcome* outcome, const char* title, dl_string** out,
                                 dl_error** error) {
  return WriteExplanation(outcome, out, error,
                          [&](const LinkReport& report) -> absl::StatusOr<std::string> {
                            if (title == nullptr) return c_api::Missing("the title");
                            return devlink::ToHtml(report, outcome->diagnostics.list, title);
                          });
}

dl_status dl_outcome_map(const dl_outcome* outcome, dl_string** out, dl_error** error) {
  return WriteExplanation(outcome, out, error, devlink::LinkMap);
}

dl_status dl_outcome_sizes(const dl_outcome* outcome, dl_string** out, dl_error** error) {
  return WriteExplanation(outcome, out, error, devlink::SizeTable);
}

dl_status dl_outcome_why_live(const dl_outcome* outcome, const char* symbol, dl_string** out,
                              dl_error** error) {
  return ExplainWhy(outcome, symbol, "the symbol", out, error, devlink::WhyLive);
}

dl_status dl_outcome_why_input(const dl_outcome* outcome, const char* input, dl_string** out,
                               dl_error** error) {
  return ExplainWhy(outcome, input, "the input", out, error, devlink::WhyInput);
}

dl_status dl_outcome_why_registers(const dl_outcome* outcome, const char* kernel, dl_string** out,
                                   dl_error** error) {
  return ExplainWhy(outcome, kernel, "the kernel", out, error, devlink::WhyRegisters);
}

}  // extern "C"
