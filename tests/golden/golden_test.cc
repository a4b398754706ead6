// SPDX-License-Identifier: Apache-2.0
//
// Links the goldens' inputs and compares with what is recorded; and, where other releases of nvlink
// are at hand, links them as those do and compares the whole files.
#include "golden/golden.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/stack.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using diff::ExplainDifference;

LinkOutcome Link(const Golden& golden, const ToolkitProfile& profile) {
  LinkOptions options;
  options.profile = profile;
  options.target = Arch::Parse(golden.arch).value_or(Arch{});
  StackOverwriter progress;
  auto session = LinkSession::Create(options, {.progress = &progress});
  if (!session.ok()) return {.status = session.status()};
  for (const auto& input : golden.inputs) {
    if (auto added = session->AddFile(input.string()); !added.ok()) return {.status = added};
  }
  return session->Link();
}

void CheckGolden(const Golden& golden) {
  REQUIRE_FALSE(golden.inputs.empty());
  const auto result = Link(golden, {});
  if (!result.ok()) {
    FAIL_CHECK(result.status.ToString());
    return;
  }
  const auto expected = ReadText(golden.description);
  REQUIRE(expected);
  // Catch2 shows both, so that a difference in names shows what moved.
  CHECK(DescribeOutput(result.cubin) == *expected);
}

// $DEVLINK_NVLINK_13_4, or what scripts/setup --release 13.4 made.
std::string NvlinkOf(const std::string& minor) {
  const char* named = std::getenv(("DEVLINK_NVLINK_13_" + minor).c_str());
  if (named != nullptr) return named;
  const std::filesystem::path made = std::filesystem::path(DEVLINK_SOURCE_ROOT) / "build" /
                                     ("toolkit-13." + minor) / "bin" / "nvlink";
  return std::filesystem::exists(made) ? made.string() : std::string();
}

void CheckRelease(const Golden& golden, const std::string& minor) {
  const std::string nvlink = NvlinkOf(minor);
  const auto profile = ToolkitProfile::ForRelease("13." + minor);
  REQUIRE(profile.ok());
  const TemporaryDirectory directory;
  const std::string output = directory.File("out.cubin");
  std::vector<std::string> command = {nvlink, "-arch=" + golden.arch, "-o", output};
  for (const auto& input : golden.inputs) command.push_back(input.string());
  const ProcessResult run = RunProcess(command);
  const auto result = Link(golden, *profile);
  CAPTURE(run.err);
  REQUIRE(run.ok() == result.ok());
  if (!run.ok()) return;
  const auto expected = ReadBytes(output);
  REQUIRE(expected);
  const std::string difference = ExplainDifference(*expected, result.cubin);
  if (!difference.empty()) FAIL_CHECK(difference);
}

void AddGoldens() {
  const std::vector<Golden> goldens = FindGoldens();
  AddTestCase("There are goldens", "[golden]", [count = goldens.size()] { CHECK(count >= 30); });
  for (const Golden& golden : goldens) {
    AddTestCase("golden " + golden.name, "[golden]", [golden] { CheckGolden(golden); });
  }
  for (const std::string minor : {"1", "2", "3", "4", "5"}) {
    if (NvlinkOf(minor).empty()) {
      AddTestCase("profile 13." + minor, "[profile]", [] {
        DEVLINK_SKIP("this release of nvlink is not here; scripts/setup --release fetches it");
      });
      continue;
    }
    for (const Golden& golden : goldens) {
      AddTestCase(Cat("profile 13.", minor, " ", golden.name), "[profile]",
                  [golden, minor] { CheckRelease(golden, minor); });
    }
  }
}

const AtStart kGoldens(AddGoldens);

}  // namespace
}  // namespace devlink::testing
