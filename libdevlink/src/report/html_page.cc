// SPDX-License-Identifier: Apache-2.0
#include "report/html_page.h"

#include <cstddef>

#include "base/strings.h"
#include "base/visible_text.h"
#include "report/page_texts.h"

namespace devlink::internal {

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

}  // namespace

HtmlPageParts FillPage(const HtmlPage& page) {
  HtmlPageParts out;
  std::string* part = &out.head;
  std::string_view rest = PageTemplate();
  for (std::size_t mark; (mark = rest.find("{{")) != std::string_view::npos;) {
    const std::size_t end = rest.find("}}", mark);
    if (end == std::string_view::npos) break;
    const std::string_view name = rest.substr(mark + 2, end - mark - 2);
    *part += rest.substr(0, mark);
    if (name == "TITLE") *part += ForHtml(page.title);
    if (name == "KIND") *part += page.kind;
    if (name == "INSTEAD") *part += page.instead;
    if (name == "STYLE") *part += PageStyle();
    if (name == "DATA") part = &out.tail;
    if (name == "WIDGETS") *part += PageWidgets();
    if (name == "SCRIPT") *part += page.script;
    rest.remove_prefix(end + 2);
  }
  *part += rest;
  return out;
}

// `<` stands in strings of JSON only.
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

}  // namespace devlink::internal
