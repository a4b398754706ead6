// SPDX-License-Identifier: Apache-2.0
//
// Length of files and functions, and the scanner that measures them.
#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> HeadsOf(std::string_view text) {
  std::vector<std::string> out;
  for (const FunctionExtent& function : FunctionsOf(WithoutCommentsAndLiterals(text))) {
    out.push_back(function.head);
  }
  return out;
}

using Heads = std::vector<std::string>;

TEST_CASE("Comments and literals are taken out of code, lines stay", "[tree]") {
  CHECK(WithoutCommentsAndLiterals("a(\"{\\\"\"); // }\nb") == "a(\"\"); \nb");
  CHECK(WithoutCommentsAndLiterals("x /* {\n{ */ y") == "x \n y");
  CHECK(WithoutCommentsAndLiterals("c = '{' + '\\'' + 1'000;") == "c = '' + '' + 1'000;");
  CHECK(WithoutCommentsAndLiterals("R\"x({\n\")\")x\" + 1") == "R\"\n\" + 1");
}

TEST_CASE("Functions are found", "[tree]") {
  CHECK(HeadsOf("namespace a { int F() { if (x) { } return 1; } }\nvoid G() {}") ==
        Heads{"int F()", "void G()"});
  CHECK(HeadsOf("class A { public: int F() const { return 1; } private: int x_{3}; };") ==
        Heads{"int F() const"});
  CHECK(HeadsOf("A::A(int x) : x_{x}, y_(2), z_{} { x_ = 1; } int F() {}") ==
        Heads{"A::A(int x) : x_{}, y_(2), z_{}", "int F()"});
  CHECK(HeadsOf("template <typename T = int>\nauto F(T x = {}) -> std::vector<T> { }") ==
        Heads{"template <typename T = int> auto F(T x = {}) -> std::vector<T>"});
  CHECK(HeadsOf("bool operator==(A a, A b) { }") == Heads{"bool operator==(A a, A b)"});
  CHECK(HeadsOf("TEST_CASE(\"{\", \"x\") { }") == Heads{"TEST_CASE(\"\", \"\")"});
  CHECK(HeadsOf("#define M(x) { \\\n {\nint F() { }") == Heads{"int F()"});
  CHECK(HeadsOf("const auto f = [](int x) { return x; };") == Heads{"const auto f = [](int x)"});
}

TEST_CASE("What is not a function is not taken for one", "[tree]") {
  CHECK(HeadsOf("constexpr Row kRows[] = {{1, F(2)}, {3, F(4)}};").empty());
  CHECK(HeadsOf("struct A : B<int(int)> { int x = F({1}); enum class E { kA, kB } e; };").empty());
  CHECK(HeadsOf("constexpr auto kRows = std::to_array<Row>({{1, 2}, {3, 4}});").empty());
  CHECK(HeadsOf("void F(); extern \"C\" { int G(int); }").empty());
}

TEST_CASE("The length of a function runs from its head to its last brace", "[tree]") {
  const auto found = FunctionsOf("\nint x;\nvoid\nF(int a,\n  int b) {\n\n}\nvoid G() {}\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].first_line == 3);
  CHECK(found[0].lines == 5);
  CHECK(found[1].first_line == 8);
  CHECK(found[1].lines == 1);
}

TEST_CASE("No function is longer than 80 lines", "[tree]") {
  int functions = 0;
  for (const char* part : {"libdevlink", "apps", "bench", "examples", "tests"}) {
    for (const fs::path& file : SourcesUnder(TreeRoot() / part)) {
      for (const FunctionExtent& function : FunctionsOf(WithoutCommentsAndLiterals(TextOf(file)))) {
        ++functions;
        if (function.lines <= 80) continue;
        FAIL_CHECK(NameInTree(file)
                   << ":" << function.first_line << ": " << function.head << " has "
                   << function.lines << " lines: split it where its comments change the subject");
      }
    }
  }
  // The scanner would find nothing in a tree that it misreads.
  CHECK(functions > 1500);
}

}  // namespace
}  // namespace devlink::testing
