// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>
#include <string_view>

#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/link_explanation.h"
#include "report/details_index.h"
#include "report/html_page.h"
#include "report/page_texts.h"

namespace devlink {

namespace {

std::string Data(const LinkReport& report, std::span<const Diagnostic> diagnostics) {
  std::string out = base::Cat({"{\"report\": ", ToJson(report), ", \"diagnostics\": ["});
  std::string_view separator = "\n";
  for (const Diagnostic& diagnostic : diagnostics) {
    out += base::Cat({separator, ToJson(diagnostic)});
    separator = ",\n";
  }
  return internal::ForScript(out + "]}");
}

}  // namespace

absl::StatusOr<std::string> ToHtml(const LinkReport& report,
                                   std::span<const Diagnostic> diagnostics,
                                   std::string_view title) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    DEVLINK_RETURN_IF_ERROR(internal::DetailsOf(report).status());
    const internal::HtmlPageParts page =
        internal::FillPage({.title = title,
                            .kind = "device link",
                            .instead = "devlink --report FILE.json and --map FILE give the same",
                            .script = internal::LinkPageScript()});
    return base::Cat({page.head, Data(report, diagnostics), page.tail});
  });
}

}  // namespace devlink
