// SPDX-License-Identifier: Apache-2.0
//
// The words and the tables of the benchmarks; what they measure no test looks at.
#include <cstddef>
#include <string>
#include <vector>

#include "elf_values.h"
#include "jit_table.h"
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

TEST_CASE("Links within a process become tables", "[bench]") {
  JitResult result{.state = JitResult::State::kOk,
                   .loading = 5.0,
                   .first = 1.0,
                   .least = 0.02,
                   .median = 0.025,
                   .links_per_second = 40000,
                   .links = 1000,
                   .peak = 3 << 20,
                   .grown = 9000};
  JitResult slower = result;
  slower.first = 2.0;
  slower.median = 0.03;
  JitRow row{.inputs = "2 cubins", .choice = {.path = "libnvJitLink.so.13"}};
  row.by_threads[1] = {slower, result, slower};
  result.links_per_second = 60000;
  row.by_threads[2] = {result};
  CHECK(Row(LatencyText({row}), "2 cubins") ==
        "|2cubins|NVIDIA'slibnvJitLink|2000(1000)|30.0(20.0)||1000(1000)|40000|60000|1.50|3.00|");
  CHECK(Has(LatencyText({row}), "already (NVIDIA's libnvJitLink in 5.00 ms)."));
  JitRow session{.inputs = "2 cubins", .choice = {.kind = LinkerChoice::Kind::kSession}};
  session.by_threads[1] = {result};
  session.by_threads[1][0].is_devlink = true;
  session.by_threads[1][0].median = 0.015;
  const std::string both = LatencyText({row, session});
  CHECK(Row(both.substr(both.rfind("\n| 2 cubins")), "2 cubins") ==
        "|2cubins|session|1000(1000)|15.0(20.0)|2.00||60000|||3.00|");
  CHECK(Has(LeakText({row}), "| 2 cubins | NVIDIA's libnvJitLink |       2 |  1000 |   60000 |"));
  CHECK(Has(Row(LeakText({row}), "2 cubins"), "|1|1000|40000|8|10|3.00|"));
  CHECK(AllWell({row}));
  row.by_threads[1][0].state = JitResult::State::kWrongResult;
  CHECK(Has(LatencyText({row}), "does not link as it should"));
  CHECK_FALSE(AllWell({row}));
  result.is_devlink = true;
  CHECK(NameOf({}, result) == "our libnvJitLink");
  CHECK(NameOf({.kind = LinkerChoice::Kind::kPool}, result) == "session, pool");
}

TEST_CASE("Initial values are found in a cubin, and in nothing else", "[bench]") {
  CHECK(PlaceOfInitialValues({}) == 0);
  CHECK(PlaceOfInitialValues(Bytes(64)) == 0);
  CHECK(PlaceOfInitialValues(Bytes(64, '\x7f')) == 0);
}

}  // namespace
}  // namespace devlink::bench
