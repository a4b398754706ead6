// SPDX-License-Identifier: Apache-2.0
//
// Links the goldens' inputs and compares with what is recorded, of nvlink 13.0 and of later
// releases; and, where other releases of nvlink are at hand, links them as those do and compares
// the whole files.
#include "golden/golden.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
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

LinkOutcome Link(const Golden& golden, const ToolkitProfile& profile, bool relocatable = false) {
  LinkOptions options;
  options.relocatable = relocatable;
  if (relocatable) options.compatibility = Compatibility::kNvlink;
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

std::vector<std::string> Words(std::string_view line) {
  std::istringstream in{std::string(line)};
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

// What scripts/update-goldens noted of the outputs of other releases: in tests/golden/releases, for
// each a file of lines `globals.sm_90 relocatable 7552 788d62ca...`: inputs, link, size, hash.
// Inputs are the goldens' or stand beside the list.
void CheckNoted(const std::string& release, const std::string& line) {
  const std::vector<std::string> words = Words(line);
  REQUIRE(words.size() == 4);
  const auto folder = std::filesystem::path(DEVLINK_TEST_SOURCE) / "golden";
  Golden golden;
  golden.arch = words[0].substr(words[0].rfind('.') + 1);
  for (int number = 1;; ++number) {
    const auto input = folder / Cat(words[0], ".", number, ".cubin");
    if (!std::filesystem::exists(input)) break;
    golden.inputs.push_back(input);
  }
  REQUIRE_FALSE(golden.inputs.empty());
  const auto profile = ToolkitProfile::ForRelease(release);
  REQUIRE(profile.ok());
  const auto result = Link(golden, *profile, words[1] == "relocatable");
  INFO(result.status.ToString());
  REQUIRE(result.ok());
  CHECK(DescribeOutput(result.cubin)
            .starts_with(Cat("size ", words[2], "\nxxh3-128 ", words[3], "\n")));
}

void AddNoted() {
  for (const std::string minor : {"1", "2", "3", "4", "5"}) {
    const std::string release = "13." + minor;
    const auto list =
        std::filesystem::path(DEVLINK_TEST_SOURCE) / "golden" / "releases" / (release + ".txt");
    AddTestCase("There are outputs of " + release, "[noted]", [list] {
      const auto text = ReadText(list);
      REQUIRE(text);
      CHECK(std::count(text->begin(), text->end(), '\n') >= 30);
    });
    ForEachLine(ReadText(list).value_or(""), [&](std::string_view line) {
      if (line.empty()) return;
      const std::vector<std::string> words = Words(line);
      AddTestCase(Cat("noted ", release, " ", Join({words[0], words[1]}, " ")), "[noted]",
                  [release, text = std::string(line)] { CheckNoted(release, text); });
    });
  }
}

void AddGoldens() {
  AddNoted();
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
