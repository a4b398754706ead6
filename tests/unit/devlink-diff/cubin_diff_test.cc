// SPDX-License-Identifier: Apache-2.0
#include "devlink-diff/cubin_diff.h"

#include <cstddef>
#include <string>

#include "devlink-diff/cubin_view.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::diff {
namespace {

using testing::BuildCubin;
using testing::Cubin;

Cubin Program(std::uint32_t registers = 8, std::uint32_t global_bytes = 4) {
  return BuildCubin(
      {.functions =
           {{.name = "kernel", .calls = {"helper"}, .kernel = true, .registers = registers},
            {.name = "helper"}},
       .global_bytes = global_bytes});
}

bool Names(const std::string& difference, std::string_view text) {
  INFO(difference);
  return difference.find(text) != std::string::npos;
}

TEST_CASE("A cubin is the same as itself", "[diff]") {
  CHECK(SameCubin(Program(), Program()));
  CHECK(ExplainDifference(Program(), Program()).empty());
}

TEST_CASE("What differs is named with its section", "[diff]") {
  CHECK_FALSE(SameCubin(Program(), Program(9)));
  CHECK(Names(ExplainDifference(Program(), Program(9)), ".text.kernel:\n"));
  const std::string other_size = ExplainDifference(Program(), Program(8, 12));
  CHECK(Names(other_size, ".nv.global.init:\n"));
  CHECK(Names(other_size, "- size 0x4   + size 0xc\n"));
}

TEST_CASE("What one file alone has stands behind a sign", "[diff]") {
  const Cubin more = BuildCubin({.functions = {{.name = "kernel", .kernel = true}, {.name = "f"}}});
  const Cubin less = BuildCubin({.functions = {{.name = "kernel", .kernel = true}}});
  CHECK(Names(ExplainDifference(more, less), "  - .text.f\n"));
  CHECK(Names(ExplainDifference(less, more), "  + .text.f\n"));
}

TEST_CASE("A byte that has no meaning is a difference, too", "[diff]") {
  Cubin padded = Program();
  padded[15] ^= 1;  // of the identification
  CHECK_FALSE(ExplainDifference(Program(), padded).empty());
}

TEST_CASE("Findings of one kind are cut off where there are too many", "[diff]") {
  const std::string difference = ExplainDifference(Program(), Program(8, 12), {.max_lines = 1});
  CHECK(Names(difference, " more\n"));
}

TEST_CASE("Any bytes can be compared", "[diff]") {
  const Cubin text = {'t', 'e', 'x', 't'};
  CHECK(SameCubin(text, text));
  CHECK(Names(ExplainDifference(Program(), text), "not an ELF file"));
  CHECK_FALSE(ExplainDifference({}, text).empty());
  const Cubin whole = Program();
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    const Cubin half(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(ExplainDifference(whole, half).empty());
    CHECK_FALSE(ExplainDifference(half, whole).empty());
  }
}

TEST_CASE("Sections are found by name and named by number", "[diff]") {
  const CubinView view = ViewCubin(Program());
  REQUIRE(view.problems.empty());
  const ViewSection* text = view.Find(".text.kernel");
  REQUIRE(text != nullptr);
  CHECK(text->key == ".text.kernel");
  CHECK(view.Find("nothing") == nullptr);
  CHECK(SectionKey(view, 0) == "(none)");
  CHECK(SectionKey(view, 0xfff1) == "0xfff1");
}

}  // namespace
}  // namespace devlink::diff
