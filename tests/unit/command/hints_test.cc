// SPDX-License-Identifier: Apache-2.0
#include "command/hints.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace devlink::internal {
namespace {

using Lines = std::vector<std::string>;

Lines Meant(const std::string& word) { return {"did you mean '" + word + "'?"}; }

TEST_CASE("A misspelt option leads to those that are spelt alike", "[command]") {
  CHECK(HintsOnOption("-suppres-stack-size-warning") == Meant("-suppress-stack-size-warning"));
  CHECK(HintsOnOption("--ach=sm_80") == Meant("-arch"));
  CHECK(HintsOnOption("-dump-calgraph") == Meant("-dump-callgraph"));
  CHECK(HintsOnOption("--reprot=x") == Meant("-report"));
  CHECK(HintsOnOption("-xyz") == Lines{"devlink --help lists all options"});
  CHECK(HintsOnOption("--") == Lines{});
}

TEST_CASE("The right name behind the wrong number of dashes is spelt out", "[command]") {
  CHECK(HintsOnOption("-output-file") == Meant("--output-file"));
  CHECK(HintsOnOption("--o=x") == Meant("-o"));
  CHECK(HintsOnOption("-register-link-binaries=x") == Meant("--register-link-binaries"));
}

TEST_CASE("A value that stands behind a letter at once is taken apart", "[command]") {
  CHECK(HintsOnOption("-ofoo.cubin") ==
        Lines{"a value stands behind a blank or '=': -o foo.cubin"});
}

TEST_CASE("What looks like an architecture leads to it, and all targets are listed", "[command]") {
  for (const char* text : {"80", "sm80", "SM_80", "sm-80"}) {
    const Lines hints = HintsOnArch(text);
    REQUIRE(hints.size() == 2);
    CHECK(hints[0] == "did you mean 'sm_80'?");
    CHECK(hints[1].starts_with("targets: sm_75, sm_80, "));
  }
  CHECK(HintsOnArch("compute90a")[0] == "did you mean 'compute_90a'?");
  CHECK(HintsOnArch("sm_1").size() == 1);
  CHECK(HintsOnArch("").size() == 1);
}

TEST_CASE("Without a target one is asked for, and all are listed", "[command]") {
  const Lines hints = HintsOnMissingArch();
  REQUIRE(hints.size() == 2);
  CHECK(hints[0] == "name the target, such as -arch=sm_90");
  CHECK(hints[1].starts_with("targets: sm_75, "));
}

}  // namespace
}  // namespace devlink::internal
