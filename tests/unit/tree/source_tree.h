// SPDX-License-Identifier: Apache-2.0
//
// The source tree as text, for tests of rules that no compiler checks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::testing {

// The root of the source tree, and its folders of library sources and public headers.
const std::filesystem::path& TreeRoot();
std::filesystem::path LibrarySources();
std::filesystem::path PublicHeaders();

// The .cc and .h files under a folder, sorted.
std::vector<std::filesystem::path> SourcesUnder(const std::filesystem::path& directory);

// What git tracks or would track, sorted; empty outside of a git working tree.
std::vector<std::filesystem::path> TrackedFiles();

// The path from the root of the tree.
std::string NameInTree(const std::filesystem::path& file);

std::string TextOf(const std::filesystem::path& file);

// Whether a name in C++ may have it.
bool IsWordCharacter(char c);

// C++ without comments and without what stands in string and character literals. Line breaks stay,
// so that line numbers are those of `text`.
std::string WithoutCommentsAndLiterals(std::string_view text);

struct IncludeLine {
  std::string path;
  bool quoted = false;
};

std::vector<IncludeLine> IncludesOf(const std::filesystem::path& file);

struct FunctionExtent {
  std::string head;  // what stands before the body, on one line
  int first_line = 0;
  int lines = 0;  // from the first line of the head to the closing brace
};

// The functions that `code` defines, in order; `code` is without comments and literals. Lambdas and
// members of local classes count as part of the function that they stand in.
std::vector<FunctionExtent> FunctionsOf(std::string_view code);

}  // namespace devlink::testing
