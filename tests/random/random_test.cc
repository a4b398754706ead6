// SPDX-License-Identifier: Apache-2.0
//
// Random programs through nvlink and devlink, always the same ones; devlink-fuzz tries others.
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "random/cuda_program.h"
#include "random/link_pair.h"
#include "random/packages.h"
#include "random/ptx_program.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

constexpr std::array<ProgramTarget, 3> kTargets = {
    {{.number = 75, .variant = 0}, {.number = 80, .variant = 0}, {.number = 90, .variant = 0}}};
// Weak symbols, common variables and nvlink -g are left to the link cases and to devlink-fuzz.
constexpr std::uint32_t kFeatures = 0xa03ffffc;

std::atomic<int> made = 0;
std::atomic<int> compared = 0;

// kRelocatable: PTX with nvlink -r; kPreserving: with -preserve-relocs.
enum class Kind { kPtx, kCuda, kRelocatable, kPreserving, kPackaged, kLto };

struct Range {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

// Others of the first 150 have exactly one kernel that is wanted, where devlink and nvlink differ
// on purpose, and one differs (docs/compatibility.md).
constexpr std::array<std::pair<ProgramTarget, Range>, 4> kPackaged = {
    {{{.number = 75, .variant = 0}, {1, 31}},
     {{.number = 100, .variant = 0}, {1, 21}},
     {{.number = 86, .variant = 0}, {15, 35}},
     {{.number = 90, .variant = 0}, {1, 41}}}};

std::string ToolkitFolder(const Toolkit& toolkit) {
  return std::filesystem::path(toolkit.nvcc).parent_path().parent_path().string();
}

// What differs, or could not be compared, one text per program.
std::vector<std::string> CheckRange(const Toolkit& toolkit, Kind kind, ProgramTarget target,
                                    Range seeds) {
  std::vector<std::string> complaints;
  std::uint64_t compared_here = 0;
  GeneratorLimits limits;
  limits.features = kind == Kind::kRelocatable ? kAllFeatures : kFeatures;
  for (std::uint64_t seed = seeds.first; seed < seeds.end; ++seed) {
    const TemporaryDirectory directory("devlink-random");
    RandomProgram program = kind == Kind::kCuda       ? MakeCudaProgram(seed, target, limits)
                            : kind == Kind::kPackaged ? MakePackagedProgram(seed, target)
                            : kind == Kind::kLto
                                ? MakeLtoProgram(seed, target, ToolkitFolder(toolkit), limits)
                                : MakePtxProgram(seed, target, limits);
    if (kind == Kind::kRelocatable) program.link_flags.emplace_back("-r");
    if (kind == Kind::kPreserving) program.link_flags.emplace_back("-preserve-relocs");
    const bool links_files =
        kind == Kind::kPackaged || kind == Kind::kLto || kind == Kind::kPreserving;
    const PairResult result =
        LinkPair(toolkit, target, directory.path() / "program", links_files ? DEVLINK_PROGRAM : "")
            .Check(program);
    ++made;
    // Now and then ptxas refuses a program, for instance where a callee has more registers than an
    // entry may use.
    // With -r and -preserve-relocs, and of packages with all features, nvlink itself ends some with
    // an internal error.
    const bool without_nvlink =
        (kind == Kind::kRelocatable || kind == Kind::kPreserving || kind == Kind::kPackaged) &&
        result.kind == "nvlink";
    if (result.verdict == Verdict::kSkipped && (result.kind == "compile" || without_nvlink)) {
      continue;
    }
    ++compared;
    ++compared_here;
    if (result.verdict == Verdict::kIdentical) continue;
    complaints.push_back(
        Cat("seed ", seed, " ", TargetName(target), ": ", result.kind, "\n", result.explanation));
  }
  if (compared_here * 2 < seeds.end - seeds.first) {
    complaints.push_back(Cat("of ", seeds.end - seeds.first, " programs only ", compared_here,
                             " could be compared"));
  }
  return complaints;
}

// Two halves at once: the compiler is one process that waits for nobody.
void CheckPrograms(Kind kind, ProgramTarget target, Range seeds) {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; no random program was linked");
  const std::uint64_t middle = (seeds.first + seeds.end) / 2;
  auto first = std::async(std::launch::async, CheckRange, *toolkit, kind, target,
                          Range{seeds.first, middle});
  auto second =
      std::async(std::launch::async, CheckRange, *toolkit, kind, target, Range{middle, seeds.end});
  for (auto* half : {&first, &second}) {
    for (const std::string& complaint : half->get()) FAIL_CHECK(complaint);
  }
  SUCCEED();
}

void AddPrograms() {
  constexpr std::uint64_t kPrograms = 110;
  constexpr std::uint64_t kStep = 10;
  for (const ProgramTarget target : kTargets) {
    for (std::uint64_t first = 1; first <= kPrograms; first += kStep) {
      AddTestCase(Cat("random PTX ", first, " to ", first + kStep - 1, " ", TargetName(target)),
                  "[random]", [=] { CheckPrograms(Kind::kPtx, target, {first, first + kStep}); });
    }
  }
  // Through the finalizer.
  for (const int number : {100, 120}) {
    AddTestCase(Cat("random PTX 1 to 20 sm_", number), "[random]",
                [=] { CheckPrograms(Kind::kPtx, {.number = number, .variant = 0}, {1, 21}); });
  }
  for (const ProgramTarget target : kTargets) {
    AddTestCase(Cat("random PTX with -r ", TargetName(target)), "[random]",
                [=] { CheckPrograms(Kind::kRelocatable, target, {1, 17}); });
    AddTestCase(Cat("random PTX with -preserve-relocs ", TargetName(target)), "[random]",
                [=] { CheckPrograms(Kind::kPreserving, target, {1, 25}); });
  }
  for (const auto& [target, seeds] : kPackaged) {
    AddTestCase(
        Cat("random packages ", seeds.first, " to ", seeds.end - 1, " ", TargetName(target)),
        "[random]", [=] { CheckPrograms(Kind::kPackaged, target, seeds); });
  }
  for (const int number : {80, 90}) {
    AddTestCase(Cat("random LTO 1 to 3 sm_", number), "[random]",
                [=] { CheckPrograms(Kind::kLto, {.number = number, .variant = 0}, {1, 4}); });
  }
  for (std::uint64_t seed = 1; seed <= 4; seed += 2) {
    AddTestCase(Cat("random CUDA ", seed, " and ", seed + 1, " sm_80"), "[random]", [=] {
      CheckPrograms(Kind::kCuda, {.number = 80, .variant = 0}, {seed, seed + 2});
    });
  }
  AddTestCase("nearly all random programs were compared", "[random]", [] {
    if (!FindToolkit()) DEVLINK_SKIP("no CUDA toolkit; no random program was linked");
    CAPTURE(made.load(), compared.load());
    REQUIRE(made > 0);
    CHECK(compared * 20 >= made * 19);
  });
}

const AtStart kPrograms(AddPrograms);

TEST_CASE("Messages are compared as often as they are said, and whole", "[random]") {
  CHECK(UnderDevlinksName("nvlink error   : x\nnvlink error   : x\n") ==
        "devlink error   : x\ndevlink error   : x\n");
  CHECK(UnderDevlinksName("nvlink error   : x in y\nnvlink error   : x\n") ==
        "devlink error   : x in y\ndevlink error   : x\n");
  CHECK(UnderDevlinksName("devlink error   : x\n\ndevlink note    : y\n") ==
        "devlink error   : x\n");
  // What nvlink says once for each call.
  const std::string stack = "warning : Stack size for entry function 'k";
  const std::string unknown = "' cannot be statically determined\n";
  const std::string one = "devlink " + stack + unknown;
  const std::string other = "devlink " + stack + "2" + unknown;
  const LinkOutcome nvlink{.messages = one + other + one};
  CHECK(ExpectedMessages(nvlink, {.repeats = false}) == one + other);
  CHECK(ExpectedMessages(nvlink, {.repeats = true}) == one + other + one);
  CHECK(SaidOnce("devlink error   : x\ndevlink error   : x\n") ==
        "devlink error   : x\ndevlink error   : x\n");
}

}  // namespace
}  // namespace devlink::testing
