// SPDX-License-Identifier: Apache-2.0
//
// What a person may have meant by a word that is wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace devlink::internal {

// Of a word that begins with a dash and is no option.
std::vector<std::string> HintsOnOption(std::string_view word);

// Of a value of -arch.
std::vector<std::string> HintsOnArch(std::string_view text);

// Where no target is named.
std::vector<std::string> HintsOnMissingArch();

}  // namespace devlink::internal
