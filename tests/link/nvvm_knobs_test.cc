// SPDX-License-Identifier: Apache-2.0
//
// The tables of knobs against the library that they describe.
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "devlink/experimental/nvvm_pass_options.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

// Of the release that the tables are for; empty where it is not there.
std::string FindNvvm() {
  const auto toolkit = FindToolkit();
  if (!toolkit.has_value() || toolkit->release != "13.0") return {};
  const fs::path root = fs::canonical(toolkit->nvlink).parent_path().parent_path();
  for (const char* folder : {"nvvm/lib64", "lib64", "lib"}) {
    for (const char* name : {"libnvvm.so", "libnvvm.so.4"}) {
      if (fs::exists(root / folder / name)) return (root / folder / name).string();
    }
  }
  return {};
}

constexpr std::array kGenerations = {std::pair{NvvmGeneration::kLlvm7, "90"},
                                     std::pair{NvvmGeneration::kLlvm20, "100"}};

// Lacks the version that libNVVM demands: refused once the words have been read.
constexpr std::string_view kRefused = "target triple = \"nvptx64-nvidia-cuda\"\n";

// For targets before sm_100.
constexpr std::string_view kLoop = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @k(float* %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %a = getelementptr float, float* %p, i32 %i
  %x = load float, float* %a
  %y = fmul float %x, %x
  store float %y, float* %a
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %end
end:
  ret void
}
!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0}
!nvvm.annotations = !{!1}
!1 = !{void (float*, i32)* @k, !"kernel", i32 1}
)";

ProcessResult Probe(const std::string& library, std::string_view module,
                    const std::vector<std::string>& words) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("m.ll");
  REQUIRE(WriteText(file, module));
  std::vector<std::string> command = {DEVLINK_NVVM_PROBE, library, file};
  command.insert(command.end(), words.begin(), words.end());
  return RunProcess(command, std::chrono::seconds(60));
}

// What libNVVM says of these words, apart from what is wrong with the program.
ProcessResult Ask(const std::string& library, const char* target,
                  const std::vector<std::string>& words) {
  std::vector<std::string> all = {std::string("-arch=compute_") + target};
  all.insert(all.end(), words.begin(), words.end());
  return Probe(library, kRefused, all);
}

bool IsUnknown(const ProcessResult& result, const std::string& word) {
  return result.out.find("Unknown command line argument '" + word + "'") != std::string::npos;
}

// A word for the knob that the registry lets through.
std::string WordFor(const NvvmKnob& knob, NvvmGeneration generation) {
  for (const char* value : {"0", "1", "none", "all", "default", "max"}) {
    NvvmPassOptions options(generation);
    if (options.Set(knob.name, value).ok()) return options.ToArguments()[1];
  }
  return {};
}

TEST_CASE("libNVVM knows every knob that is let through", "[nvvm][toolkit]") {
  const std::string library = FindNvvm();
  if (library.empty()) DEVLINK_SKIP("no libnvvm.so of CUDA 13.0");
  for (const auto& [generation, target] : kGenerations) {
    std::vector<std::string> words;
    std::size_t asked = 0;
    for (const NvvmKnob& knob : NvvmKnobs(generation)) {
      if (knob.confidence == NvvmKnobConfidence::kDocumentOnly) continue;
      const std::string word = WordFor(knob, generation);
      if (word.empty()) continue;  // never let through, or a choice of rare words
      words.insert(words.end(), {"-Xopt", word});
      ++asked;
    }
    words.insert(words.end(), {"-Xopt", "-xno-such-knob=1"});
    const ProcessResult result = Ask(library, target, words);
    INFO(target << ": " << result.out.substr(0, 3000) << result.err.substr(0, 1000));
    CHECK(asked > 1000);
    REQUIRE(result.ok());
    // All have been read, and one is unknown.
    CHECK(IsUnknown(result, "-xno-such-knob=1"));
    std::size_t unknown = 0;
    for (std::size_t at = 0;
         (at = result.out.find("Unknown command line argument", at)) != std::string::npos; ++at) {
      ++unknown;
    }
    CHECK(unknown == 1);
  }
}

TEST_CASE("libNVVM refuses the knobs that are only described", "[nvvm][toolkit]") {
  const std::string library = FindNvvm();
  if (library.empty()) DEVLINK_SKIP("no libnvvm.so of CUDA 13.0");
  for (const auto& [generation, target] : kGenerations) {
    std::vector<std::string> words;
    std::vector<std::string> names;
    for (const NvvmKnob& knob : NvvmKnobs(generation)) {
      if (knob.confidence != NvvmKnobConfidence::kDocumentOnly) continue;
      names.emplace_back(knob.name);
      words.insert(words.end(), {"-Xopt", "-" + names.back() + "=0"});
      CHECK_FALSE(NvvmPassOptions(generation).Set(knob.name, "0").ok());
    }
    const ProcessResult result = Ask(library, target, words);
    REQUIRE(result.ok());
    CHECK(!names.empty());
    for (const std::string& name : names) {
      CAPTURE(target, name);
      CHECK(IsUnknown(result, "-" + name + "=0"));
    }
  }
}

TEST_CASE("libNVVM needs the checks", "[nvvm][toolkit]") {
  const std::string library = FindNvvm();
  if (library.empty()) DEVLINK_SKIP("no libnvvm.so of CUDA 13.0");
  // A word is missing: the process dies.
  CHECK_FALSE(Ask(library, "90", {"-Xopt"}).ok());
  // Help: the process ends, and says so on standard output.
  CHECK(Ask(library, "90", {"-Xopt", "-help"}).out.find("OPTIONS:") != std::string::npos);
  CHECK(Ask(library, "100", {"-Xopt", "-hello"}).out.find("USAGE:") != std::string::npos);
  // One word instead of two is not an option at all.
  CHECK(Ask(library, "90", {"-Xopt,-unroll-count=2"}).out.find("unsupported option") !=
        std::string::npos);
  // The older compiler takes any text for a number; the newer one complains, and still succeeds.
  CHECK(Ask(library, "90", {"-Xopt", "-unroll-count=abc"}).out.find("invalid") ==
        std::string::npos);
  CHECK(Ask(library, "100", {"-Xopt", "-unroll-count=abc"}).out.find("value invalid for uint") !=
        std::string::npos);
  for (const auto& [generation, target] : kGenerations) {
    NvvmPassOptions options(generation);
    CHECK_FALSE(options.Set("unroll-count", "abc").ok());
    CHECK_FALSE(options.Set("help").ok());
    CHECK_FALSE(options.Set("hello").ok());
    CHECK_FALSE(NvvmPassOptions::Parse(std::vector<std::string>{"-Xopt"}, generation).ok());
  }
}

TEST_CASE("Values last as long as the registry says", "[nvvm][toolkit]") {
  const std::string library = FindNvvm();
  if (library.empty()) DEVLINK_SKIP("no libnvvm.so of CUDA 13.0");
  for (const auto& [name, value] :
       {std::pair{"unroll-count", "3"}, {"disable-LoopUnrollPass", "1"}}) {
    NvvmPassOptions options(NvvmGeneration::kLlvm7);
    REQUIRE(options.Set(name, value).ok());
    std::vector<std::string> words = {"-arch=compute_90", "--", "-arch=compute_90"};
    for (std::string& word : options.ToArguments()) words.push_back(std::move(word));
    words.insert(words.end(), {"--", "-arch=compute_90"});
    const ProcessResult result = Probe(library, kLoop, words);
    INFO(result.out);
    REQUIRE(result.ok());
    std::istringstream lines(result.out);
    std::vector<std::string> results;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) results.push_back(line);
    }
    REQUIRE(results.size() == 3);
    CHECK(results[0].starts_with("0 "));
    CHECK(results[1] != results[0]);
    CHECK(results[2] == (options.OutlivesProgram() ? results[1] : results[0]));
  }
}

}  // namespace
}  // namespace devlink::testing
