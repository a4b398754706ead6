// SPDX-License-Identifier: Apache-2.0
//
// What libNVVM is asked: nvlink and devlink link the same files with a stand-in that writes down
// every call (docs/lto-options.md).
#include <algorithm>
#include <cstddef>
#include <future>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink/diagnostics.h"
#include "link/lto_case.h"
#include "link/lto_recording.h"
#include "support/catch.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::ExplainDifference;

constexpr std::size_t kRandomCases = 150;
constexpr std::uint64_t kSeed = 20250705;
constexpr std::size_t kWorkers = 2;

// Those of nvlink's lines that come from what is tested here.
bool IsAboutOptions(std::string_view line) {
  for (const char* text : {"Some objects do not have", "Cicc option values",
                           "Incompatible options '-", "Stray '", "'--Ofast-compile'"}) {
    if (line.find(text) != std::string_view::npos) return true;
  }
  return false;
}

// What nvlink ends a link with that could succeed (docs/lto-options.md).
bool IsMended(std::string_view line) {
  for (const char* text : {"expected libcudadevrt object", "unexpected object after cudadevrt",
                           "Invalid argument for option '-maxrregcount'",
                           "Invalid argument for option '-split-compile'"}) {
    if (line.find(text) != std::string_view::npos) return true;
  }
  return false;
}

std::string Recorded(const LtoPrediction& predicted) {
  std::string out;
  for (const std::string& word : predicted.options) {
    Append(out, out.empty() ? "" : " ", AsRecorded(word));
  }
  return out;
}

std::string Both(std::string_view what, const std::vector<std::string>& theirs,
                 const std::vector<std::string>& ours) {
  if (theirs == ours) return "";
  return Cat(what, "\nnvlink:\n  ", Join(theirs, "\n  "), "\nhere:\n  ", Join(ours, "\n  "), "\n");
}

// What is asked for: the modules, the vector, and what is read of the result. Looking a private
// function up is not, nor is giving the program back, which nvlink forgets where something fails.
std::vector<std::string> Asked(const LtoRecording& recording) {
  std::vector<std::string> out;
  // Where modules cannot agree, devlink does not even call libNVVM.
  if (recording.CompileLine().empty()) return out;
  for (const std::string& call : recording.calls) {
    if (!call.starts_with("handle ") && call != "destroy") out.push_back(call);
  }
  return out;
}

std::string CheckPrediction(const LtoRecording& theirs, const LtoCase& link) {
  const LtoPrediction predicted = Predict(link, NvvmVectorPolicy::Nvlink());
  std::vector<std::string> said;
  std::copy_if(theirs.messages.begin(), theirs.messages.end(), std::back_inserter(said),
               IsAboutOptions);
  std::vector<std::string> ours;
  for (Diagnostic diagnostic : predicted.diagnostics) {
    diagnostic.notes.clear();
    ours.push_back(RenderDiagnostic(diagnostic, "devlink"));
    ours.back().pop_back();
  }
  return Both("vector", {theirs.CompileLine()}, {Recorded(predicted)}) +
         Both("messages", said, ours);
}

// Of sm_110 nvlink leaves bytes of an earlier table in a section that nothing reads
// (docs/compatibility.md).
bool IsLeftOver(const std::string& difference) {
  std::istringstream lines(difference);
  bool all = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with(' ')) continue;
    all = all && line.starts_with(".nv.merc.nv.shared.reserved.");
  }
  return all;
}

std::string CheckOutput(const LtoRecording& theirs, const LtoRecording& ours, const LtoCase& link) {
  if (!theirs.ok || !ours.ok) return "";
  if (link.emit_ptx) return theirs.output == ours.output ? "" : "the output differs\n";
  const std::string difference = ExplainDifference(theirs.output, ours.output);
  return IsLeftOver(difference) ? "" : Cat("output: ", difference, "\n");
}

std::string CheckLikeNvlink(const LtoRecording& theirs, const LtoRecording& ours,
                            const LtoCase& link) {
  return CheckOutput(theirs, ours, link) +
         Both("status", {theirs.ok ? "succeeds" : "fails"}, {ours.ok ? "succeeds" : "fails"}) +
         Both("messages", theirs.messages, ours.messages) +
         Both("calls", Asked(theirs), Asked(ours));
}

// Where the output is nvlink's by default, too: of IR that came in no host object nvlink loses the
// result, unless that is the whole program. With -r, references wait for the next link.
bool KeepsOutput(const LtoRecording& theirs, const LtoCase& link) {
  const bool has_place =
      std::any_of(link.inputs.begin(), link.inputs.end(),
                  [](const LtoInput& input) { return input.kind == LtoInputKind::kObject; });
  const bool is_whole = std::none_of(link.inputs.begin(), link.inputs.end(),
                                     [](const LtoInput& input) {
                                       return input.kind != LtoInputKind::kLtoir &&
                                              input.kind != LtoInputKind::kFatbin &&
                                              input.kind != LtoInputKind::kRuntimeArchive;
                                     }) &&
                        theirs.CompileLine().find("--device-c") == std::string::npos &&
                        link.environment.empty();
  return !link.relocatable && (has_place || is_whole);
}

// By default devlink does what nvlink does, but where that fails without need.
std::string CheckDefault(const LtoRecording& theirs, const LtoRecording& ours,
                         const LtoCase& link) {
  const std::string vector = Recorded(Predict(link, {}));
  std::string out = Both("default vector", {vector}, {ours.CompileLine()});
  if (KeepsOutput(theirs, link)) out += CheckOutput(theirs, ours, link);
  if (vector == theirs.CompileLine()) out += Both("calls", Asked(theirs), Asked(ours));
  if (std::any_of(theirs.messages.begin(), theirs.messages.end(), IsMended)) {
    if (!ours.ok) Append(out, "fails by default:\n", Join(ours.messages, "\n"), "\n");
    return out;
  }
  return out +
         Both("status", {theirs.ok ? "succeeds" : "fails"}, {ours.ok ? "succeeds" : "fails"}) +
         Both("messages", theirs.messages, ours.messages);
}

bool LeavesNvlink(const LtoRecording& theirs, const LtoCase& link) {
  return Recorded(Predict(link, {})) != theirs.CompileLine() ||
         std::any_of(theirs.messages.begin(), theirs.messages.end(), IsMended);
}

// Lists as `ld -r` makes them of objects that launch nothing: names of kernels, all of them empty.
bool HasEmptyNamesOnly(const LtoInput& input) {
  bool any = false;
  if (!input.lists.has_value()) return false;
  for (const char* list : {"KE", "KI"}) {
    const auto found = input.lists->find(list);
    if (found == input.lists->end()) continue;
    for (const std::string& name : found->second) {
      if (!name.empty()) return false;
      any = true;
    }
  }
  return any;
}

// Whether a case shows what devlink does by default: there libcudadevrt is an archive only, empty
// names do not count where there are no others, and another compiler is tried where libNVVM cannot
// be used. Otherwise the case is compared as --compat=nvlink.
bool ShowsDefault(const LtoCase& link) {
  return !link.Fails() &&
         std::none_of(link.inputs.begin(), link.inputs.end(), [](const LtoInput& input) {
           return input.kind == LtoInputKind::kRuntime ||
                  input.kind == LtoInputKind::kRuntimeLtoIr || HasEmptyNamesOnly(input);
         });
}

// What is found in all cases, in one run of nvlink each.
struct Findings {
  struct Kind {
    std::size_t cases = 0;
    std::vector<std::string> faults;
    void Add(const LtoCase& link, const std::string& fault) {
      ++cases;
      if (!fault.empty()) faults.push_back(Cat(link.Describe(), "\n", fault));
    }
  };
  Kind prediction;
  Kind like_nvlink;
  Kind by_default;
};

Findings Examine(const Toolkit& toolkit, const std::vector<LtoCase>& cases, std::size_t first) {
  Findings out;
  LtoStage stage(toolkit);
  for (std::size_t i = first; i < cases.size(); i += kWorkers) {
    const LtoCase& link = cases[i];
    if (!stage.Prepare(link)) {
      out.prediction.Add(link, "the inputs cannot be made");
      continue;
    }
    const LtoRecording theirs = stage.Run(toolkit.nvlink, link);
    if (theirs.crashed) continue;  // nothing to compare with
    out.prediction.Add(link, CheckPrediction(theirs, link));
    if (!IsLinkTarget(link.arch)) continue;
    const bool by_default = ShowsDefault(link);
    if (by_default) {
      out.by_default.Add(link, CheckDefault(theirs, stage.Run(DEVLINK_PROGRAM, link), link));
    }
    // Where the default is nvlink's, some of the cases are enough.
    if (!by_default || LeavesNvlink(theirs, link) || i % 4 < 2) {
      out.like_nvlink.Add(
          link,
          CheckLikeNvlink(theirs, stage.Run(DEVLINK_PROGRAM, link, {"--compat=nvlink"}), link));
    }
  }
  return out;
}

Findings ExamineAll(const Toolkit& toolkit) {
  std::vector<LtoCase> cases = TableOfLtoCases();
  std::vector<LtoCase> random = RandomLtoCases(kSeed, kRandomCases);
  std::move(random.begin(), random.end(), std::back_inserter(cases));
  std::vector<std::future<Findings>> workers;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    workers.push_back(
        std::async(std::launch::async, [&, i] { return Examine(toolkit, cases, i); }));
  }
  Findings all;
  for (auto& worker : workers) {
    const Findings part = worker.get();
    for (Findings::Kind Findings::* kind :
         {&Findings::prediction, &Findings::like_nvlink, &Findings::by_default}) {
      (all.*kind).cases += (part.*kind).cases;
      (all.*kind).faults.insert((all.*kind).faults.end(), (part.*kind).faults.begin(),
                                (part.*kind).faults.end());
    }
  }
  return all;
}

void Report(const char* what, const Findings::Kind& kind) {
  CHECK(kind.cases > 150);
  for (const std::string& fault : kind.faults) FAIL_CHECK(what << ": " << fault);
  WARN(what << ": " << kind.cases - kind.faults.size() << " of " << kind.cases << " identical");
}

TEST_CASE("libNVVM is asked what nvlink asks", "[link][lto]") {
  const auto toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  if (toolkit->release != "13.0") DEVLINK_SKIP("nvlink is not 13.0");
  const Findings found = ExamineAll(*toolkit);
  Report("as predicted", found.prediction);
  Report("with --compat=nvlink", found.like_nvlink);
  Report("by default", found.by_default);
}

TEST_CASE("Code that needs the suffix of its target is compiled again with it", "[link][lto]") {
  const auto toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  LtoCase link;
  link.arch = Arch{90, 'a'};
  link.inputs.resize(1);
  link.environment = {"RECORDING_NVVM_BODY=setmaxnreg.inc.sync.aligned.u32 128;"};
  LtoStage stage(*toolkit);
  REQUIRE(stage.Prepare(link));
  const auto archs = [](const LtoRecording& recording) {
    std::string out;
    for (const std::string& call : recording.calls) {
      if (call.starts_with("compile ")) Append(out, call.substr(0, call.find(" -link-lto")), "\n");
    }
    return out;
  };
  const LtoRecording theirs = stage.Run(toolkit->nvlink, link);
  CHECK(!theirs.ok);
  CHECK(archs(theirs) == "compile -arch=compute_90\n");
  const LtoRecording same = stage.Run(DEVLINK_PROGRAM, link, {"--compat=nvlink"});
  CHECK(!same.ok);
  CHECK(same.messages == theirs.messages);
  CHECK(archs(same) == archs(theirs));
  const LtoRecording ours = stage.Run(DEVLINK_PROGRAM, link);
  CHECK(ours.ok);
  CHECK(archs(ours) == "compile -arch=compute_90\ncompile -arch=compute_90a\n");

  // The same words, where no attempt helps: the first one's messages.
  link.arch = Arch{90, 0};
  REQUIRE(stage.Prepare(link));
  const LtoRecording plain = stage.Run(DEVLINK_PROGRAM, link);
  CHECK(!plain.ok);
  CHECK(plain.messages == stage.Run(toolkit->nvlink, link).messages);
}

}  // namespace
}  // namespace devlink::testing
