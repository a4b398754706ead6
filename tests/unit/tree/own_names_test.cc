// SPDX-License-Identifier: Apache-2.0
//
// Builds compile neighbours as one file (cmake/DevlinkUnity.cmake). A type or a constant that two
// of them have ends such a build; of a function there would be overloads, and a call may mean the
// other one.
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "support/catch.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

// Functions that stand by themselves: what is a class's is indented or has its name in front.
std::set<std::string> FreeFunctions(const std::string& code) {
  static const std::regex head(R"(^[A-Za-z][\w:<>,&*\s\[\]]*[\s&*>](\w+)\()");
  static const std::regex constant("k[A-Z].*");
  std::set<std::string> out;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, head)) continue;
    if (!std::regex_match(match[1].str(), constant)) out.insert(match[1]);
  }
  return out;
}

TEST_CASE("A function that stands by itself is found", "[tree]") {
  CHECK(FreeFunctions("int One(int x) {\n  return Two(x);\n}\n"
                      "const std::vector<A>& Three(\n    B b);\n"
                      "void Class::Four() {}\nconst std::regex kFive(x);\nTEST_CASE(six) {\n") ==
        std::set<std::string>{"One", "Three"});
}

TEST_CASE("No two files of a folder have functions of one name", "[tree]") {
  for (const fs::path& folder : {LibrarySources(), TreeRoot() / "tests" / "unit"}) {
    std::map<std::string, std::string> file_of;  // by folder and function
    for (const fs::path& file : SourcesUnder(folder)) {
      if (file.extension() != ".cc") continue;
      for (const std::string& name : FreeFunctions(WithoutCommentsAndLiterals(TextOf(file)))) {
        const auto [known, is_new] =
            file_of.emplace(file.parent_path().string() + '/' + name, NameInTree(file));
        if (!is_new) {
          FAIL_CHECK(NameInTree(file)
                     << " and " << known->second << " both have a function " << name);
        }
      }
    }
  }
}

}  // namespace
}  // namespace devlink::testing
