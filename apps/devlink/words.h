// SPDX-License-Identifier: Apache-2.0
//
// Texts of a command line, read as nvlink reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::app {

// The words of an options file: separated by white space, which quotes and backslashes protect.
std::vector<std::string> SplitWords(std::string_view text);

// The items of a list, as nvlink reads one: they end at commas, blanks around them do not count,
// double quotes are removed and keep commas. A text is what is wrong.
std::optional<std::string> ReadList(const std::vector<std::string>& values,
                                    std::vector<std::string>& out);

// A number as nvlink reads it; a text is what is wrong.
std::optional<std::string> ReadNumber(const std::string& text, int& out);

}  // namespace devlink::app
