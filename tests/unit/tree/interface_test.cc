// SPDX-License-Identifier: Apache-2.0
//
// Nothing is public that no test tries.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

// Without what stands behind `private:`, up to the end of the class.
std::string PublicPartOf(std::string_view code) {
  std::string out;
  bool is_private = false;
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size() - 1) + 1;
    const std::string_view line = code.substr(0, end);
    code.remove_prefix(end);
    if (line.starts_with(" private:")) is_private = true;
    if (line.starts_with(" public:") || line.starts_with("};")) is_private = false;
    if (!is_private) out += line;
  }
  return out;
}

std::set<std::string> Matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> out;
  for (std::sregex_iterator word(text.begin(), text.end(), pattern), end; word != end; ++word) {
    out.insert((*word)[1]);
  }
  return out;
}

// The code of the tests and of what else calls the library from outside.
std::string CodeOfCallers(const std::vector<const char*>& folders) {
  std::string out;
  for (const char* folder : folders) {
    for (const fs::path& file : SourcesUnder(TreeRoot() / folder)) {
      out += WithoutCommentsAndLiterals(TextOf(file));
    }
  }
  return out;
}

TEST_CASE("Every public function is called by a test, an example or a program", "[tree]") {
  const std::regex call(R"(\b([A-Z]\w*)\s*\()");
  const std::regex type(R"(\b(?:class|struct)\s+(\w+))");
  std::map<std::string, std::string> functions;  // and their headers
  std::set<std::string> types;
  for (const fs::path& header : SourcesUnder(PublicHeaders())) {
    const std::string code = PublicPartOf(WithoutCommentsAndLiterals(TextOf(header)));
    for (const std::string& name : Matches(code, call)) functions[name] = NameInTree(header);
    types.merge(Matches(code, type));
  }
  REQUIRE(functions.size() > 100);
  const std::set<std::string> called = Matches(CodeOfCallers({"tests", "examples", "apps"}), call);
  for (const auto& [name, header] : functions) {
    if (types.contains(name) || called.contains(name)) continue;
    FAIL_CHECK(header << ": nothing calls " << name);
  }
}

TEST_CASE("Every function for C is called by a unit test of it", "[tree]") {
  const std::regex call(R"(\b(dl_\w+)\()");
  const fs::path header = PublicHeaders() / "c" / "devlink.h";
  const std::set<std::string> functions = Matches(WithoutCommentsAndLiterals(TextOf(header)), call);
  REQUIRE(functions.size() > 50);
  const std::set<std::string> called = Matches(CodeOfCallers({"tests/unit/c_api"}), call);
  for (const std::string& name : functions) {
    CAPTURE(name);
    CHECK(called.contains(name));
  }
}

TEST_CASE("Every function for C is described", "[tree]") {
  const std::string text = TextOf(PublicHeaders() / "c" / "devlink.h");
  std::size_t functions = 0;
  for (std::size_t at = text.find("\nDL_API "); at != std::string::npos;
       at = text.find("\nDL_API ", at + 1)) {
    ++functions;
    const std::string declaration = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    if (declaration.find("_destroy(") != std::string::npos) continue;  // said of all in one place
    const std::string before = text.substr(text.rfind('\n', at - 1) + 1, 2);
    CAPTURE(declaration);
    CHECK((before == "//" || declaration.find("//") != std::string::npos));
  }
  CHECK(functions > 50);
}

// The names of the fields of a struct.
std::vector<std::string> FieldsOf(const std::string& code, const std::string& name) {
  const std::size_t begin = code.find("struct " + name + " {");
  REQUIRE(begin != std::string::npos);
  const std::string body = code.substr(begin, code.find("\n};", begin) - begin);
  const std::regex field(R"((\w+)(?: = [^;]*)?;)");
  std::vector<std::string> out;
  for (std::sregex_iterator at(body.begin(), body.end(), field), end; at != end; ++at) {
    out.push_back((*at)[1]);
  }
  return out;
}

TEST_CASE("Every option of a link is set by a test of the library", "[tree]") {
  const std::string code = WithoutCommentsAndLiterals(TextOf(PublicHeaders() / "link_options.h"));
  const std::string tests = CodeOfCallers({"tests"});
  for (const char* name : {"LinkOptions", "LtoOptions"}) {
    const std::vector<std::string> fields = FieldsOf(code, name);
    REQUIRE(fields.size() > 5);
    for (const std::string& field : fields) {
      CAPTURE(name, field);
      CHECK(std::regex_search(tests, std::regex("\\." + field + R"(\s*(=[^=]|\.))")));
    }
  }
}

}  // namespace
}  // namespace devlink::testing
