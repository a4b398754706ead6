// SPDX-License-Identifier: Apache-2.0
//
// Texts of a command line, read as nvlink reads them.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace devlink::internal {

// The words of an options file: separated by blanks, tabs and ends of lines, which double quotes
// and backslashes protect. There are no comments, and a NUL ends the text. As with nvlink, no
// double quote gets through, not even behind a backslash. InvalidArgument with nvlink's words where
// a quote is not closed or a backslash stands last.
absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view text);

// The items of a list: they end at commas, blanks around them do not count, double quotes are
// removed and keep commas. InvalidArgument with nvlink's words where a quote is not closed.
absl::StatusOr<std::vector<std::string>> ReadList(std::string_view text);

// Decimal, octal after `0`, hexadecimal after `0x`. InvalidArgument with nvlink's words.
absl::StatusOr<int> ReadNumber(const std::string& text);

// InvalidArgument with these words.
absl::Status Wrong(std::initializer_list<std::string_view> pieces);

// The last part of a path.
std::string BaseName(const std::string& path);

// What lies before it: `/usr/bin` of `/usr/bin/ptxas`, `.` of a bare name. Borrowed from `path`.
std::string_view FolderOf(std::string_view path);

// The path of a file in a folder.
std::string Within(std::string_view folder, std::string_view file);

// A word of a script for the shell.
std::string ForShell(std::string_view word);

// Whether an option of this long name has the value, perhaps behind a word that is wrong.
bool IsAskedFor(std::span<const std::string> words, std::string_view option,
                std::string_view value);

// The entries of a value such as that of PATH, without empty ones.
std::vector<std::string> SplitPath(std::string_view value);

}  // namespace devlink::internal
