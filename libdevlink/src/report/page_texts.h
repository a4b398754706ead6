// SPDX-License-Identifier: Apache-2.0
//
// What stands in report/page, as texts.
#pragma once

#include <string_view>

namespace devlink::internal {

std::string_view PageTemplate();  // with marks, which FillPage fills in
std::string_view PageStyle();
std::string_view PageWidgets();
std::string_view LinkPageScript();

}  // namespace devlink::internal
