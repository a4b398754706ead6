// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace devlink::base {

// A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD; characters that no
// terminal should get are escaped (base/visible_text.h).
std::string JsonString(std::string_view text);

}  // namespace devlink::base
