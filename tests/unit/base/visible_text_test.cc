// SPDX-License-Identifier: Apache-2.0
#include "base/visible_text.h"

#include <string>

#include "base/json.h"
#include "devlink/diagnostics.h"
#include "devlink/link_report.h"
#include "support/catch.h"

namespace devlink::base {
namespace {

using namespace std::string_literals;

TEST_CASE("What a terminal would obey is made visible", "[base]") {
  CHECK(VisibleText("") == "");
  CHECK(VisibleText("_Z3fooi<a, b> \t\\x") == "_Z3fooi<a, b> \t\\x");
  CHECK(VisibleText("a\x1b[2J\r\nb\0c\x7f"s) == R"(a\x1b[2J\x0d\x0ab\x00c\x7f)");
  CHECK(VisibleText("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80");
  // CSI as one character, the direction of writing, ends of lines beyond ASCII.
  CHECK(VisibleText("\xc2\x9b"
                    "2J \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\xa8 \xd8\x9c") ==
        R"(\u009b2J \u202e \u2066 \u2028 \u061c)");
}

TEST_CASE("What is not UTF-8 is made visible", "[base]") {
  CHECK(VisibleText("\xff\xfe") == R"(\xff\xfe)");
  CHECK(VisibleText("a\xc3") == R"(a\xc3)");
  CHECK(VisibleText("\xc3(") == R"(\xc3()");
  CHECK(VisibleText("\xc0\x80") == R"(\xc0\x80)");                  // overlong
  CHECK(VisibleText("\xe0\x80\xaf") == R"(\xe0\x80\xaf)");          // the same
  CHECK(VisibleText("\xed\xa0\x80") == R"(\xed\xa0\x80)");          // half of a pair
  CHECK(VisibleText("\xf4\x90\x80\x80") == R"(\xf4\x90\x80\x80)");  // beyond the last
  CHECK(VisibleText("\xf0\x82\x82\xac") == R"(\xf0\x82\x82\xac)");
}

TEST_CASE("JSON holds no bytes that are not UTF-8, and no control characters", "[base]") {
  CHECK(JsonString("a\"\\\x01\t\x7f\xc2\x9b\xe2\x80\xae\xff\xc3\xa4") ==
        "\"a\\\"\\\\\\u0001\\u0009\\u007f\\u009b\\u202e\xef\xbf\xbd\xc3\xa4\"");
}

TEST_CASE("A message is one line for each sentence, whatever names are in it", "[base]") {
  const Diagnostic diagnostic{.text = "Undefined reference to 'x'\ndevlink fatal   : y'",
                              .symbol = "",
                              .input = "",
                              .notes = {"called by \x1b]0;z\x07"}};
  CHECK(RenderDiagnostic(diagnostic, "devlink") ==
        "devlink error   : Undefined reference to 'x'\\x0adevlink fatal   : y'\n"
        "devlink note    : called by \\x1b]0;z\\x07\n");
  const Diagnostic verbatim{
      .text = "ptxas fatal   : a\x1b[1m", .symbol = "", .input = "", .notes = {}, .verbatim = true};
  CHECK(RenderDiagnostic(verbatim, "devlink") == "ptxas fatal   : a\\x1b[1m\n");
}

TEST_CASE("A report is JSON whatever names are in it", "[base]") {
  LinkReport report;
  report.dead_functions = {"a\xff\n\x1b"};
  CHECK(ToJson(report).find("\"a\xef\xbf\xbd\\u000a\\u001b\"") != std::string::npos);
}

}  // namespace
}  // namespace devlink::base
