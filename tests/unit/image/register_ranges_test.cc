// SPDX-License-Identifier: Apache-2.0
#include "image/register_ranges.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"

namespace devlink::internal {
namespace {

using Bytes = std::vector<std::uint8_t>;

void Append(std::string_view text, Bytes& out) {
  for (const char c : text) out.push_back(static_cast<std::uint8_t>(c));
  out.push_back(0);
}

void Append32(std::uint32_t value, Bytes& out) {
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// The function's name and a count; a word, a variable's name, a register, two places for each.
void AppendList(std::string_view function, std::uint32_t variables, std::uint32_t first,
                Bytes& out) {
  Append(function, out);
  Append32(variables, out);
  for (std::uint32_t i = 0; i < variables; ++i) {
    Append32(7, out);
    Append("variable", out);
    Append32(0x500 + i, out);
    Append32(first == 0 ? 0 : first + i, out);
    Append32(first == 0 ? 0 : first + i + 16, out);
  }
}

Section SectionOf(const Bytes& bytes) {
  Section out;
  out.size = bytes.size();
  out.pieces.push_back({bytes, 0});
  return out;
}

TEST_CASE("Places of code that goes are cleared, and nothing else", "[registers]") {
  Bytes lists;
  AppendList("stays", 2, 32, lists);
  const std::uint64_t second = lists.size();
  AppendList("goes", 3, 64, lists);
  AppendList("empty", 0, 0, lists);
  AppendList("stays", 1, 96, lists);
  Bytes expected;
  AppendList("stays", 2, 32, expected);
  AppendList("goes", 3, 0, expected);
  AppendList("empty", 0, 0, expected);
  AppendList("stays", 1, 96, expected);
  std::vector<std::string> asked;
  const auto kept =
      KeepRegisterRanges(SectionOf(lists), [&](std::string_view name, std::uint64_t offset) {
        asked.emplace_back(name);
        CHECK((offset == second) == (name == "goes"));
        return name != "goes";
      });
  REQUIRE(kept.has_value());
  CHECK(*kept == expected);
  CHECK(asked == std::vector<std::string>{"stays", "goes", "empty", "stays"});
}

TEST_CASE("Register lists that end too early are not taken for lists", "[registers]") {
  Bytes lists;
  AppendList("f", 2, 32, lists);
  const auto all = [](std::string_view, std::uint64_t) { return true; };
  CHECK(KeepRegisterRanges(SectionOf({}), all) == Bytes());
  CHECK(KeepRegisterRanges(SectionOf(lists), all) == lists);
  for (std::size_t size = 1; size < lists.size(); ++size) {
    CAPTURE(size);
    const Bytes cut(lists.begin(), lists.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(KeepRegisterRanges(SectionOf(cut), all).has_value());
  }
  // A count that the bytes do not hold ends at their end.
  Bytes many;
  Append("f", many);
  Append32(0xffffffff, many);
  CHECK_FALSE(KeepRegisterRanges(SectionOf(many), all).has_value());
}

}  // namespace
}  // namespace devlink::internal
