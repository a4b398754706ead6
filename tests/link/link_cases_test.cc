// SPDX-License-Identifier: Apache-2.0
//
// Every link case, and programs that use CUDA's own libraries, through nvlink and through devlink.
// One test case per program and architecture: `./link_cases_test "globals sm_80"` runs one.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "link/case_file.h"
#include "random/link_pair.h"
#include "support/at_end.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::ExplainDifference;

struct Job {
  LinkCase program;
  std::string arch;  // "80"
  FrontEnd front_end = FrontEnd::kOnce;
  std::vector<std::string> more_flags = {};  // for the compiler
};

// Steps of a job that went wrong; a job without any is as it should be.
using Complaints = std::vector<std::string>;

bool Has(const std::vector<std::string>& flags, std::string_view flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

class LinkJob {
 public:
  LinkJob(const Toolkit& toolkit, CaseCompiler& compiler, const Job& job)
      : toolkit_(toolkit), compiler_(compiler), job_(job) {}

  // As the case says; in two steps; then with -r as nvlink does it, and the result of that once
  // more. Of each with nvlink, what -preserve-relocs adds.
  Complaints Run() {
    if (!job_.program.unknown_word.empty()) {
      return {Cat("the case's head does not know '", job_.program.unknown_word, "'")};
    }
    if (!Compile()) return complaints_;
    const LinkOutcome expected = LinkWithNvlink();
    if (!HasTwoViews()) CheckExpectation(expected);
    Add(Compare("", expected));
    if (expected.ok && HasTwoViews()) {
      parts_ = 2;
      Add(Compare("finalized in parts: ", expected));
      parts_ = 0;
    }
    if (expected.ok) ComparePreserved();
    // Of two views the first step is composed and the second the finalizer's: other code.
    if (expected.ok && !HasTwoViews()) CompareTwoSteps(expected);
    relocatable_ = true;
    const LinkOutcome relocatable = LinkWithNvlink();
    // nvlink has faults of its own here (docs/compatibility.md); nothing can be learned from them.
    const bool failed = Failed(relocatable);
    if (failed && HasTwoViews()) return complaints_;
    AddUnlessExempt(Comparison::kNvlinkRelocatable,
                    failed ? Complaints{"nvlink -r: " + relocatable.messages} : Complaints{});
    if (failed) return complaints_;
    Add(Compare("-r: ", relocatable));
    if (relocatable.ok) ComparePreserved();
    if (relocatable.ok) CompareAgain(relocatable);
    return complaints_;
  }

 private:
  // Whether nvlink did not even say what is wrong.
  static bool Failed(const LinkOutcome& nvlink) {
    return nvlink.messages.find("Internal error") != std::string::npos ||
           nvlink.messages.find("ended by signal") != std::string::npos;
  }

  [[nodiscard]] bool HasTwoViews() const { return job_.arch.size() > 2 && job_.arch[0] == '1'; }

  void Add(Complaints complaints) {
    for (std::string& complaint : complaints) complaints_.push_back(std::move(complaint));
  }

  // Complaints about what the case says cannot hold are expected, and must come.
  void AddUnlessExempt(Comparison comparison, Complaints complaints) {
    const auto covers = [&](const Exemption& exemption) {
      return exemption.comparison == comparison &&
             (exemption.arch.empty() || exemption.arch == job_.arch);
    };
    if (std::ranges::none_of(job_.program.exemptions, covers)) {
      Add(std::move(complaints));
    } else if (complaints.empty() && !HasTwoViews()) {
      complaints_.emplace_back("what the case exempts holds");
    }
  }

  Complaints Compare(const std::string& what, const LinkOutcome& expected) {
    const LinkOutcome actual = LinkInProcess();
    if (expected.ok != actual.ok) {
      return {Cat(what, "nvlink ", expected.ok ? "succeeds" : "fails", ", devlink ",
                  actual.ok ? "succeeds" : "fails", "\nnvlink says:\n", expected.messages,
                  "devlink says:\n", actual.messages)};
    }
    Complaints complaints;
    if (expected.ok) {
      const std::string difference = ExplainDifference(expected.cubin, actual.cubin);
      if (!difference.empty()) complaints.push_back(what + difference);
    }
    const std::string messages = ExpectedMessages(expected, actual);
    if (messages != actual.messages) {
      complaints.push_back(Cat(what, "messages differ\nnvlink says:\n", messages, "devlink says:\n",
                               actual.messages));
    }
    return complaints;
  }

  // Code and memory of a program are the same however many links it takes.
  void CompareTwoSteps(const LinkOutcome& expected) {
    relocatable_ = keeps_ = true;
    const LinkOutcome first = LinkInProcess();
    relocatable_ = keeps_ = false;
    const std::vector<std::string> inputs = std::move(inputs_);
    inputs_ = {directory_.File("kept.cubin")};
    const bool written = first.ok && WriteBytes(inputs_.front(), first.cubin);
    const LinkOutcome second = written ? LinkInProcess() : first;
    inputs_ = inputs;
    if (!second.ok) {
      AddUnlessExempt(Comparison::kTwoSteps, {"in two steps: fails\n" + second.messages});
      return;
    }
    const diff::CubinView direct = diff::ViewCubin(expected.cubin);
    const diff::CubinView twice = diff::ViewCubin(second.cubin);
    Complaints constants;
    Complaints others;
    for (const diff::ViewSection& section : direct.sections) {
      if (!IsProgram(section.key)) continue;
      const auto found = std::ranges::find(twice.sections, section.key, &diff::ViewSection::key);
      if (found == twice.sections.end() || found->size != section.size ||
          !std::ranges::equal(found->data, section.data)) {
        (section.key.starts_with(".nv.constant2") ? constants : others)
            .push_back(Cat("in two steps: another ", section.key));
      }
    }
    AddUnlessExempt(Comparison::kTwoStepsConstants, constants);
    AddUnlessExempt(Comparison::kTwoSteps, others);
  }

  // Takes out the first line that begins so: the command says it, before there is a link.
  static void DropLine(std::string& lines, std::string_view beginning) {
    const std::size_t at = lines.find(beginning);
    if (at == std::string::npos) return;
    lines.erase(at, std::min(lines.find('\n', at), lines.size() - 1) - at + 1);
  }

  // nvlink says that it is not made for targets with two views.
  void ComparePreserved() {
    // With -Werror it is an error from sm_90 on that the option is not fully implemented. Of real
    // programs with -G, ptxas leaves labels without a place, which nvlink lists (docs/
    // compatibility.md).
    if (HasTwoViews() || Has(job_.program.link_flags, "-Werror") || Has(job_.more_flags, "-G")) {
      return;
    }
    preserves_ = true;
    LinkOutcome expected = LinkWithNvlink();
    DropLine(expected.messages, "devlink warning : Option '--preserve-relocs' ");
    Add(Compare(relocatable_ ? "-r -preserve-relocs: " : "-preserve-relocs: ", expected));
    preserves_ = false;
  }

  void CompareAgain(const LinkOutcome& relocatable) {
    relocatable_ = false;
    inputs_ = {directory_.File("again.cubin")};
    if (!WriteBytes(inputs_.front(), relocatable.cubin)) {
      complaints_.push_back("cannot write " + inputs_.front());
      return;
    }
    const LinkOutcome expected = LinkWithNvlink();
    if (Failed(expected) && HasTwoViews()) return;
    AddUnlessExempt(Comparison::kAgain, Compare("the result of -r: ", expected));
  }

  static bool IsProgram(std::string_view section) {
    constexpr std::string_view kKinds[] = {".text.", ".nv.constant", ".nv.global", ".nv.shared."};
    return std::ranges::any_of(kKinds, [&](auto kind) { return section.starts_with(kind); });
  }

  bool Compile() {
    for (const CaseFile& file : job_.program.files) {
      const std::string output = directory_.File(file.path.filename().string() + ".cubin");
      const ProcessResult result =
          compiler_.Compile(job_.program, file, job_.arch, output, job_.front_end, job_.more_flags);
      if (!result.ok() && HasTwoViews()) return false;  // the case was not written for it
      if (!result.ok()) {
        complaints_.push_back(Cat("does not compile: ", result.err, result.out));
        return false;
      }
      inputs_.push_back(output);
    }
    return true;
  }

  LinkOutcome LinkWithNvlink() {
    const std::string output = directory_.File("out.cubin");
    std::vector<std::string> command = {toolkit_.nvlink, "-arch=sm_" + job_.arch};
    const auto& flags = job_.program.link_flags;
    command.insert(command.end(), flags.begin(), flags.end());
    if (relocatable_) command.emplace_back("-r");
    if (preserves_) command.emplace_back("-preserve-relocs");
    command.insert(command.end(), inputs_.begin(), inputs_.end());
    command.insert(command.end(), {"-o", output});
    const ProcessResult result = RunProcess(command);
    LinkOutcome outcome;
    outcome.ok = result.ok();
    outcome.messages = UnderDevlinksName(result.err);
    if (outcome.ok) outcome.cubin = ReadBytes(output).value_or(std::vector<std::uint8_t>{});
    if (result.signal != 0) Append(outcome.messages, "nvlink ended by signal ", result.signal);
    return outcome;
  }

  // As nvlink writes it; with -g the names of the files come first.
  [[nodiscard]] std::string RecordedOptions() const {
    const auto& flags = job_.program.link_flags;
    std::string text;
    if (Has(flags, "-g")) {
      for (const std::string& input : inputs_) {
        Append(text, text.empty() ? "" : ",", std::filesystem::path(input).filename().string());
      }
      text += " ";
    }
    if (Has(flags, "-suppress-stack-size-warning")) text += "-suppress-stack-size-warning  ";
    if (Has(flags, "-g")) text += "-o out.cubin -g  ";
    const bool verbose = Has(flags, "-v");
    Append(text, "-arch sm_", job_.arch, " ", verbose ? "-v  " : "",
           preserves_ ? "-preserve-relocs  " : "");
    for (const std::string_view flag : {"-Werror", "-disable-infos", "-report-arch"}) {
      if (Has(flags, flag)) Append(text, flag, "  ");
    }
    if (relocatable_) text += "-r  ";
    return text;
  }

  LinkOutcome LinkInProcess() {
    const auto& flags = job_.program.link_flags;
    LinkOptions options;
    options.target = Arch::Parse("sm_" + job_.arch).value_or(Arch{});
    options.debug = Has(flags, "-g");
    options.preserve_relocations = preserves_;
    options.relocatable = relocatable_;
    if (relocatable_ && !keeps_) options.compatibility = Compatibility::kNvlink;
    options.verbose = Has(flags, "-v");
    options.finalizer_parts = parts_;
    options.warnings_are_errors = Has(flags, "-Werror");
    options.suppress_warnings = Has(flags, "-disable-infos");
    options.suppress_stack_size_warning = Has(flags, "-suppress-stack-size-warning");
    options.report_arch = Has(flags, "-report-arch");
    options.recorded_options = RecordedOptions();
    if (options.debug) options.recorded_object = "out.cubin";
    LinkOutcome outcome = LinkWithLibrary(options, inputs_);
    if (!outcome.keeps_lost) return outcome;
    options.compatibility = Compatibility::kNvlink;
    return LinkWithLibrary(options, inputs_);
  }

  // That the case still shows what it was written to show.
  void CheckExpectation(const LinkOutcome& expected) {
    const bool warned = expected.messages.find("warning ") != std::string::npos;
    bool as_written = true;
    switch (job_.program.expectation) {
      case Expectation::kOk:
        as_written = expected.ok && !warned;
        break;
      case Expectation::kWarning:
        as_written = expected.ok && warned;
        break;
      case Expectation::kError:
        as_written = !expected.ok;
        break;
      case Expectation::kAny:
        break;
    }
    if (!as_written) {
      complaints_.push_back(Cat("not what the case expects of nvlink, which ",
                                expected.ok ? "succeeds" : "fails", " and says:\n",
                                expected.messages));
    }
  }

  const Toolkit& toolkit_;
  CaseCompiler& compiler_;
  const Job& job_;
  TemporaryDirectory directory_{"devlink-link"};
  std::vector<std::string> inputs_;
  bool relocatable_ = false;
  bool preserves_ = false;
  int parts_ = 0;
  bool keeps_ = false;  // references, as devlink -r does by default
  Complaints complaints_;
};

// Runs jobs a little ahead of the test cases that look at their results: compiling takes most of
// the time, and one process of it leaves the other processors idle.
class JobRunner {
 public:
  std::size_t Add(Job job) {
    jobs_.push_back(std::move(job));
    results_.emplace_back();
    return jobs_.size() - 1;
  }

  Complaints ResultOf(std::size_t index, const Toolkit& toolkit) {
    constexpr std::size_t kAhead = 2;
    if (!compiler_) compiler_.emplace(toolkit);
    for (std::size_t i = index; i < std::min(index + kAhead, jobs_.size()); ++i) {
      if (results_[i].valid()) continue;
      results_[i] = std::async(std::launch::async, [this, &toolkit, i] {
                      return LinkJob(toolkit, *compiler_, jobs_[i]).Run();
                    }).share();
    }
    return results_[index].get();
  }

  // The job ahead of the last one is still at work where few tests were asked for.
  void Wait() const {
    for (const auto& result : results_) {
      if (result.valid()) result.wait();
    }
  }

 private:
  std::optional<CaseCompiler> compiler_;
  std::vector<Job> jobs_;
  std::vector<std::shared_future<Complaints>> results_;
};

JobRunner& Runner() {
  static JobRunner runner;
  return runner;
}

void AddLinkTest(const std::string& name, const std::string& tags, Job job) {
  const std::size_t index = Runner().Add(std::move(job));
  AddTestCase(name, tags, [index] {
    static const auto kToolkit = FindToolkit();
    for (const std::string& complaint : Runner().ResultOf(index, *kToolkit)) {
      FAIL_CHECK(complaint);
    }
    SUCCEED();
  });
}

// The cases were written for targets with one view; there are two from sm_100 on.
std::vector<std::string> TwoViewArchs(const LinkCase& program) {
  // nvlink leaves bytes in `.nv_debug_info_reg_sass` that differ from run to run.
  if (!Has(program.archs, "90") || program.name == "debug_info_of_replaced") return {};
  if (program.name == "globals") return {"100", "100a", "100f", "103", "110", "120", "120a", "121"};
  return {"100", "120"};
}

void AddCases() {
  EndHooks().push_back([] { Runner().Wait(); });
  const std::filesystem::path source = DEVLINK_TEST_SOURCE;
  if (!FindToolkit()) {
    // One test that was left out, not hundreds that compared nothing.
    AddTestCase("link cases", "[case]",
                [] { DEVLINK_SKIP("no CUDA toolkit; nothing was compared"); });
    return;
  }
  for (const LinkCase& program : FindCases(source / "link" / "cases")) {
    for (const std::string& arch : program.archs) {
      AddLinkTest(Cat(program.name, " sm_", arch), "[case]", {program, arch});
    }
    for (const std::string& arch : TwoViewArchs(program)) {
      AddLinkTest(Cat(program.name, " sm_", arch), "[mercury]", {program, arch});
    }
  }
  // Each takes seconds to compile; not every combination is worth that.
  const std::vector<std::pair<std::string, std::vector<std::string>>> kKinds = {
      {"75", {}}, {"80", {"-lineinfo"}}, {"90", {}}, {"90", {"-lineinfo"}}};
  for (const LinkCase& program : FindCases(source / "link" / "real")) {
    for (const auto& [arch, flags] : kKinds) {
      AddLinkTest(Cat("real ", program.name, " sm_", arch, " ", Join(flags, " ")), "[real]",
                  {program, arch, FrontEnd::kEach, flags});
    }
    if (program.name == "thrust") {
      AddLinkTest(Cat("real ", program.name, " sm_100"), "[real]",
                  {program, "100", FrontEnd::kEach});
    }
    if (program.name == "cub_block" || program.name == "cooperative_groups") {
      AddLinkTest(Cat("real ", program.name, " sm_80 -G"), "[real]",
                  {program, "80", FrontEnd::kEach, {"-G"}});
    }
  }
}

const AtStart kCases(AddCases);

}  // namespace
}  // namespace devlink::testing
