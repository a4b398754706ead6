// SPDX-License-Identifier: Apache-2.0
//
// What libNVVM is asked: nvlink and devlink link the same files with a stand-in that writes down
// every call (docs/lto-options.md).
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/diagnostics.h"
#include "link/lto_case.h"
#include "link/lto_recording.h"
#include "support/catch.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

constexpr std::size_t kRandomCases = 250;
constexpr std::uint64_t kSeed = 20250705;
constexpr std::size_t kWorkers = 2;

const std::vector<LtoCase>& AllCases() {
  static const std::vector<LtoCase> cases = [] {
    std::vector<LtoCase> out = TableOfLtoCases();
    std::vector<LtoCase> random = RandomLtoCases(kSeed, kRandomCases);
    std::move(random.begin(), random.end(), std::back_inserter(out));
    return out;
  }();
  return cases;
}

// What `check` finds wrong with each case; the cases are shared among threads, the texts are in
// order.
std::vector<std::string> CheckAll(
    const Toolkit& toolkit, const std::vector<LtoCase>& cases,
    const std::function<std::string(LtoStage&, const LtoCase&)>& check) {
  std::vector<std::string> faults(cases.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    LtoStage stage(toolkit);
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      faults[i] = stage.Prepare(cases[i]) ? check(stage, cases[i]) : "the inputs cannot be made";
      if (!faults[i].empty()) faults[i] = Cat(cases[i].Describe(), "\n", faults[i]);
    }
  };
  std::vector<std::future<void>> workers;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (auto& worker : workers) worker.get();
  faults.erase(std::remove(faults.begin(), faults.end(), ""), faults.end());
  return faults;
}

// Those of nvlink's lines that come from what is tested here.
bool IsAboutOptions(std::string_view line) {
  for (const char* text : {"Some objects do not have", "Cicc option values",
                           "Incompatible options '-", "Stray '", "'--Ofast-compile'"}) {
    if (line.find(text) != std::string_view::npos) return true;
  }
  return false;
}

std::string CheckPrediction(LtoStage& stage, const std::string& nvlink, const LtoCase& link) {
  const LtoRecording recorded = stage.Run(nvlink, link);
  if (recorded.crashed) return "";  // nothing to compare with
  const LtoPrediction predicted = Predict(link, NvvmVectorPolicy::Nvlink());

  std::vector<std::string> words;
  for (const std::string& word : predicted.options) words.push_back(AsRecorded(word));
  const std::string expected = recorded.CompileLine();
  std::string out;
  if (expected != Join(words, " ")) {
    Append(out, "nvlink: ", expected, "\nours:   ", Join(words, " "), "\n");
  }
  std::vector<std::string> theirs;
  std::copy_if(recorded.messages.begin(), recorded.messages.end(), std::back_inserter(theirs),
               IsAboutOptions);
  std::string ours;
  for (Diagnostic diagnostic : predicted.diagnostics) {
    diagnostic.notes.clear();
    ours += RenderDiagnostic(diagnostic, "devlink");
  }
  const std::string said = theirs.empty() ? "" : Join(theirs, "\n") + "\n";
  if (said != ours) Append(out, "nvlink says:\n", said, "we say:\n", ours);
  return out;
}

TEST_CASE("The vector is predicted for every combination", "[link][lto]") {
  const auto toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  const std::vector<LtoCase>& cases = AllCases();
  REQUIRE(cases.size() > 150);
  const auto faults = CheckAll(*toolkit, cases, [&](LtoStage& stage, const LtoCase& link) {
    return CheckPrediction(stage, toolkit->nvlink, link);
  });
  for (const std::string& fault : faults) FAIL_CHECK(fault);
  WARN(cases.size() - faults.size() << " of " << cases.size() << " identical");
}

}  // namespace
}  // namespace devlink::testing
