// SPDX-License-Identifier: Apache-2.0
//
// No exception leaves the library: what public headers declare to return a status catches all.
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

// `LinkSession::AddFile`, of all public headers. Not what callers implement, and not private parts.
std::set<std::string> PublicEntries() {
  const std::regex entry(
      R"(^\s*(?:\[\[nodiscard\]\]\s*)?(?:static\s+)?absl::Status(?:Or<.*>)?\s+(\w+)\(.*)");
  const std::regex type(R"(^(?:class|struct)\s+(\w+)[^;]*\{\s*$)");
  std::set<std::string> out;
  for (const fs::path& file : SourcesUnder(PublicHeaders())) {
    std::string owner;
    bool is_private = false;
    const std::string code = WithoutCommentsAndLiterals(TextOf(file));
    const std::vector<std::string> lines = LinesOf(code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::smatch match;
      if (std::regex_match(lines[i], match, type)) {
        owner = match[1].str() + "::";
        is_private = false;
      }
      if (lines[i] == "};") owner.clear();
      if (lines[i] == " private:") is_private = true;
      if (lines[i] == " public:") is_private = false;
      if (!std::regex_match(lines[i], match, entry) || (is_private && !owner.empty())) continue;
      std::string whole = lines[i];
      for (std::size_t j = i; whole.find(';') == std::string::npos && ++j < lines.size();) {
        whole += lines[j];
      }
      if (whole.find(" override") == std::string::npos) out.insert(owner + match[1].str());
    }
  }
  return out;
}

// Head and whole text of every function in the library's sources.
std::multimap<std::string, std::string> Definitions() {
  const std::regex head(R"(absl::Status(?:Or<.*>)? ((?:\w+::)?\w+)\(.*)");
  std::multimap<std::string, std::string> out;
  for (const fs::path& file : SourcesUnder(LibrarySources())) {
    const std::string code = WithoutCommentsAndLiterals(TextOf(file));
    const std::vector<std::string> lines = LinesOf(code);
    for (const FunctionExtent& function : FunctionsOf(code)) {
      std::smatch match;
      if (!std::regex_match(function.head, match, head)) continue;
      std::string text;
      // The handler of a function that is one block of `try` stands behind it.
      constexpr int kHandler = 2;
      for (int i = 0; i < function.lines + kHandler; ++i) {
        const auto line = static_cast<std::size_t>(function.first_line - 1 + i);
        if (line < lines.size()) text += lines[line] + "\n";
      }
      out.emplace(match[1].str(), text);
    }
  }
  return out;
}

TEST_CASE("No exception leaves a public function that returns a status", "[tree]") {
  const std::set<std::string> entries = PublicEntries();
  const auto definitions = Definitions();
  CHECK(entries.contains("LinkSession::AddFile"));
  CHECK(entries.contains("Fatbin::Parse"));
  CHECK(entries.size() > 35);
  for (const std::string& entry : entries) {
    CAPTURE(entry);
    const auto [begin, end] = definitions.equal_range(entry);
    CHECK(begin != end);
    for (auto definition = begin; definition != end; ++definition) {
      const std::string& text = definition->second;
      const bool is_guarded = text.find("base::Guard(") != std::string::npos ||
                              text.find("Adding(") != std::string::npos ||
                              text.find("base::StatusOfException()") != std::string::npos;
      CHECK(is_guarded);
    }
  }
}

}  // namespace
}  // namespace devlink::testing
