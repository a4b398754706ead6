// SPDX-License-Identifier: Apache-2.0
//
// The parts of the page of a report, as they stand in report/page.
#pragma once

#include <string_view>

namespace devlink::internal {

// With marks: {{TITLE}}, {{STYLE}}, {{DATA}} and {{SCRIPT}}.
std::string_view ReportPage();
std::string_view ReportStyle();
std::string_view ReportScript();

}  // namespace devlink::internal
