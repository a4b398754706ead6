// SPDX-License-Identifier: Apache-2.0
#include "devlink/sinks.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

TEST_CASE("Progress as a line", "[progress]") {
  CHECK(ProgressText({.phase = LinkPhase::kReading}) == "reading");
  CHECK(
      ProgressText({.phase = LinkPhase::kAssembling, .done = 3, .total = 12, .subject = "a.ptx"}) ==
      "assembling 3 of 12: a.ptx");
  CHECK(ProgressText({.phase = LinkPhase::kLtoCompile, .done = 0, .total = 1}) == "optimising");
  CHECK(ProgressText({.phase = LinkPhase::kReading, .subject = "a\x1b[2J\n"}) ==
        "reading: a\\x1b[2J\\x0a");
}

TEST_CASE("A progress line is never wider than asked", "[progress]") {
  const std::string name = "/a/very/long/path/of/a/file/\xc3\xa4\xc3\xb6\xc3\xbc/with.cubin";
  for (std::size_t width = 10; width < 60; ++width) {
    const std::string text = ProgressText({.phase = LinkPhase::kReading, .subject = name}, width);
    CAPTURE(width, text);
    CHECK(text.size() <= width);
    CHECK(text.starts_with("reading"));
    // No half of a character.
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\xc3') CHECK((i + 1 < text.size() && (text[i + 1] & 0xc0) == 0x80));
      if ((text[i] & 0xc0) == 0x80) CHECK((i > 0 && text[i - 1] == '\xc3'));
    }
  }
  CHECK(ProgressText({.phase = LinkPhase::kReading, .subject = name}, 30) ==
        "reading: /a/very/l...ith.cubin");
}

}  // namespace
}  // namespace devlink::testing
