// SPDX-License-Identifier: Apache-2.0
//
// Pages of one file, with nothing that a browser would have to load: one for links, one for what
// files hold. Their template, style and widgets stand in report/page, their scripts where their
// data come from.
#pragma once

#include <string>
#include <string_view>

namespace devlink::internal {

struct HtmlPage {
  std::string_view title;    // any text
  std::string_view kind;     // what stands behind it, and
  std::string_view instead;  // what gives the same as text; both are put in as they are
  std::string_view script;
};

// The page up to its data and from their end on. Between them stands JSON, in pieces of any size
// that went through ForScript.
struct HtmlPageParts {
  std::string head;
  std::string tail;
};
HtmlPageParts FillPage(const HtmlPage& page);

// JSON that does not end the script that it stands in.
std::string ForScript(std::string_view json);

}  // namespace devlink::internal
