// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "devlink/experimental/link_explanation.h"
#include "report/details_index.h"
#include "report/report_page.h"

namespace devlink {

namespace {

std::string ForHtml(std::string_view text) {
  std::string out;
  for (const char c : base::VisibleText(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Within a script no text may end it: `<` stands in strings of JSON only.
std::string ForScript(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Data(const LinkReport& report, std::span<const Diagnostic> diagnostics) {
  std::string out = base::Cat({"{\"report\": ", ToJson(report), ", \"diagnostics\": ["});
  std::string_view separator = "\n";
  for (const Diagnostic& diagnostic : diagnostics) {
    out += base::Cat({separator, ToJson(diagnostic)});
    separator = ",\n";
  }
  return ForScript(out + "]}");
}

}  // namespace

absl::StatusOr<std::string> ToHtml(const LinkReport& report,
                                   std::span<const Diagnostic> diagnostics,
                                   std::string_view title) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    DEVLINK_RETURN_IF_ERROR(internal::DetailsOf(report).status());
    std::string out;
    std::string_view rest = internal::ReportPage();
    for (std::size_t mark; (mark = rest.find("{{")) != std::string_view::npos;) {
      const std::size_t end = rest.find("}}", mark);
      if (end == std::string_view::npos) break;
      const std::string_view name = rest.substr(mark + 2, end - mark - 2);
      out += rest.substr(0, mark);
      if (name == "TITLE") out += ForHtml(title);
      if (name == "STYLE") out += internal::ReportStyle();
      if (name == "DATA") out += Data(report, diagnostics);
      if (name == "SCRIPT") out += internal::ReportScript();
      rest.remove_prefix(end + 2);
    }
    out += rest;
    return out;
  });
}

}  // namespace devlink
