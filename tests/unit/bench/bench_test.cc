// SPDX-License-Identifier: Apache-2.0
//
// The words and the tables of the benchmarks; what they measure no test looks at.
#include <string>
#include <vector>

#include "markdown.h"
#include "options.h"
#include "support/catch.h"
#include "table.h"

namespace devlink::bench {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A line of a table without its blanks.
std::string Row(const std::string& text, const std::string& begin) {
  std::size_t place = text.find("\n| " + begin + ' ');
  if (place == std::string::npos) return "no such row in\n" + text;
  std::string out;
  for (++place; text[place] != '\n'; ++place) {
    if (text[place] != ' ') out.push_back(text[place]);
  }
  return out;
}

Measurement Took(double seconds, double least) {
  return {.ok = true, .runs = 3, .seconds = seconds, .least = least, .peak = 3 << 20};
}

TEST_CASE("Words of devlink-bench are read", "[bench]") {
  const auto usual = ParseOptions({}, "/build/bin");
  REQUIRE(usual);
  CHECK(usual->devlink == "/build/bin/devlink");
  CHECK(usual->cache == "/build/bench-modules");
  CHECK(usual->target == "sm_80");
  CHECK(usual->runs == 7);
  const auto given =
      ParseOptions({"--quick", "--no-nvlink", "--instructions", "--class", "10", "--class", "lto",
                    "--runs", "3", "--arch", "sm_90", "--json", "out.json", "--devlink", "/other",
                    "--cache", "/modules", "--folder", "/memory"},
                   "/build/bin");
  REQUIRE(given);
  CHECK((given->quick && given->without_nvlink && given->counts_instructions));
  CHECK(given->classes == std::vector<std::string>{"10", "lto"});
  CHECK(given->runs == 3);
  CHECK(given->target == "sm_90");
  CHECK(given->json == "out.json");
  CHECK(given->devlink == "/other");
  CHECK(given->cache == "/modules");
  CHECK(given->folder == "/memory");
  for (const ProgramClass& program : ProgramClasses()) {
    CHECK(Wanted(*usual, program));
    CHECK(Wanted(*given, program) == (program.name == "10" || program.name == "lto"));
    CHECK(Has(UsageText(), "  " + program.name + ' '));
  }
  CHECK_FALSE(ParseOptions({"--fast"}, "/"));
  CHECK_FALSE(ParseOptions({"--class"}, "/"));
  CHECK_FALSE(ParseOptions({"--runs", "0"}, "/"));
  CHECK_FALSE(ParseOptions({"--runs", "3x"}, "/"));
}

TEST_CASE("Numbers have three digits that count", "[bench]") {
  CHECK(ThreeDigits(0) == "0");
  CHECK(ThreeDigits(0.01234) == "0.0123");
  CHECK(ThreeDigits(1.234) == "1.23");
  CHECK(ThreeDigits(12.34) == "12.3");
  CHECK(ThreeDigits(1234.5) == "1234");
}

TEST_CASE("Cells of a table stand below each other", "[bench]") {
  MarkdownTable table({"what", "n"});
  table.Add({"a", "10000"});
  table.Add({"long name"});
  CHECK(table.Text() ==
        "| what      |     n |\n"
        "|-----------|------:|\n"
        "| a         | 10000 |\n"
        "| long name |       |\n");
}

TEST_CASE("Whole runs become a table and JSON", "[bench]") {
  Result good{.name = "good", .inputs = 2, .bytes_in = 1 << 20, .bytes_out = 1 << 19};
  good.nvlink = Took(0.004, 0.003);
  good.devlink = Took(0.001, 0.0009);
  good.with_threads = {Took(0.0015, 0.0014), Took(0.001, 0.001), Took(0.002, 0.002)};
  good.floor = Took(0.0005, 0.0004);
  good.outputs = Comparison::kIdentical;
  Result bad{.name = "bad"};
  bad.devlink.failure = "he said \"no\"";
  bad.outputs = Comparison::kDifferent;
  const std::string text = TableText({good, bad}, 1 << 20);
  CHECK(Row(text, "good") ==
        "|good|2|1.00|0.500|4.00(3.00)|3.00|||1.00(0.900)|3.00|1.50(1.40)|1.00(1.00)|2.00(2.00)|"
        "4.00|0.500(0.400)|2.00|yes|");
  CHECK(Has(Row(text, "bad"), "|failed|"));
  CHECK(Has(Row(text, "bad"), "|NO|"));
  CHECK(Has(text, "bad: devlink: he said \"no\""));
  CHECK_FALSE(Has(text, "instructions"));
  CHECK(
      Has(JsonText({good, bad}, 1, "sm_80"), "\"devlink\": {\"failure\": \"he said \\\"no\\\"\"}"));
  CHECK(Has(JsonText({good}, 1, "sm_80"), "\"devlink_threads_4\": {\"seconds\": 0.002000, "));
  good.instructions = 12'340'000;
  CHECK(Has(Row(TableText({good}, 0), "good"), "|yes|12.3|"));
}

}  // namespace
}  // namespace devlink::bench
