// SPDX-License-Identifier: Apache-2.0
#include "random/link_pair.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string_view>

#include "devlink-diff/cubin_diff.h"
#include "random/packages.h"
#include "support/process.h"
#include "support/stack.h"
#include "support/text.h"

#ifndef DEVLINK_FUZZ_EXTERNAL_ONLY
#include "devlink/devlink.h"
#endif

namespace devlink::testing {
namespace {

using diff::ExplainDifference;

constexpr auto kToolLimit = std::chrono::seconds(120);

bool HasFlag(const RandomProgram& program, std::string_view flag) {
  return std::find(program.link_flags.begin(), program.link_flags.end(), flag) !=
         program.link_flags.end();
}

// Where two message texts part.
std::string FirstMessageDifference(const std::string& expected, const std::string& actual) {
  std::vector<std::string> a;
  std::vector<std::string> b;
  ForEachLine(expected, [&a](std::string_view line) { a.emplace_back(line); });
  ForEachLine(actual, [&b](std::string_view line) { b.emplace_back(line); });
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return Cat("messages, line ", i + 1, ":\n  - ", i < a.size() ? a[i] : "(end)", "\n  + ",
             i < b.size() ? b[i] : "(end)", "\n");
}

// The section an explanation is about, in general terms: `.nv.info` for `.nv.info.k`. A program
// being made smaller must keep this, or another difference, one found in every program, takes its
// place.
std::string Subject(const std::string& explanation) {
  constexpr std::array<std::string_view, 3> kSections = {".nv.", ".text.", ".rel"};
  std::string general;
  std::string subject;
  ForEachLine(explanation, [&](std::string_view line) {
    if (line.empty() || line.front() == ' ') return;
    line = line.substr(0, line.find(':'));
    if (general.empty()) general = line;
    const bool is_section = std::any_of(kSections.begin(), kSections.end(),
                                        [line](std::string_view s) { return line.starts_with(s); });
    if (!is_section || !subject.empty()) return;
    const std::size_t second = line.find('.', 1);
    const std::size_t third =
        second == std::string_view::npos ? second : line.find('.', second + 1);
    subject = line.substr(0, line.starts_with(".text") ? second : third);
  });
  return subject.empty() ? general : subject;
}

bool IsLto(const SourceFile& source) {
  return std::find(source.flags.begin(), source.flags.end(), "-dlto") != source.flags.end();
}

}  // namespace

std::string TargetName(ProgramTarget target) {
  std::string name = Cat("sm_", target.number);
  if (target.variant != 0) name += target.variant;
  return name;
}

std::string UnderDevlinksName(const std::string& messages) {
  constexpr std::string_view kName = "nvlink ";
  constexpr std::string_view kNote = "devlink note    :";
  std::string out;
  ForEachLine(messages, [&](std::string_view line) {
    if (line.empty() || line.starts_with(kNote)) return;
    if (line.starts_with(kName)) {
      Append(out, "devlink ", line.substr(kName.size()), "\n");
    } else {
      Append(out, line, "\n");
    }
  });
  return out;
}

std::string SaidOnce(const std::string& messages) {
  constexpr std::string_view kRepeated = "' cannot be statically determined";
  std::string out;
  std::set<std::string, std::less<>> said;
  ForEachLine(messages, [&](std::string_view line) {
    if (line.empty() || (line.ends_with(kRepeated) && !said.emplace(line).second)) return;
    Append(out, line, "\n");
  });
  return out;
}

std::string ExpectedMessages(const LinkOutcome& expected, const LinkOutcome& actual) {
  return actual.repeats ? expected.messages : SaidOnce(expected.messages);
}

LinkPair::LinkPair(Toolkit toolkit, ProgramTarget target, std::filesystem::path directory,
                   std::string program)
    : toolkit_(std::move(toolkit)),
      target_(target),
      directory_(std::move(directory)),
      program_(std::move(program)) {
  std::error_code ignored;
  std::filesystem::create_directories(directory_, ignored);
}

bool LinkPair::CompileFile(const SourceFile& source, const std::string& output,
                           std::string& error) {
  const std::string path = (directory_ / source.name).string();
  if (!WriteText(path, source.text)) {
    error = "cannot write " + path;
    return false;
  }
  const ProgramTarget target =
      source.compile_for == 0 ? target_ : ProgramTarget{.number = source.compile_for, .variant = 0};
  const std::string arch = "-arch=" + TargetName(target);
  std::vector<std::string> command;
  if (source.name.ends_with(".ptx")) {
    command = {toolkit_.ptxas, "-c", arch};
  } else {
    command = {toolkit_.nvcc, "-w", "--extended-lambda", "-rdc=true", arch};
    command.emplace_back(IsLto(source) ? "-c" : "-cubin");
  }
  command.insert(command.end(), source.flags.begin(), source.flags.end());
  command.insert(command.end(), {path, "-o", output});
  const ProcessResult result = RunProcess(command, kToolLimit);
  if (!result.ok()) error = source.name + ": " + result.err + result.out;
  return result.ok();
}

bool LinkPair::Compile(const RandomProgram& program, std::string& error) {
  inputs_.clear();
  for (const SourceFile& source : program.files) {
    const std::string extension = IsLto(source) ? ".o" : ".cubin";
    const std::string output = (directory_ / (source.name + extension)).string();
    const std::string state = Join(source.flags, " ") + "\n" + source.text;
    const auto it = compiled_.find(source.name);
    if (it == compiled_.end() || it->second != state) {
      compiled_.erase(source.name);
      if (!CompileFile(source, output, error)) return false;
      compiled_[source.name] = state;
    }
    inputs_.push_back(output);
  }
  if (program.packages.empty()) return true;
  auto packed = WritePackages(program, target_, inputs_, directory_);
  if (!packed) {
    error = "cannot pack the files";
    return false;
  }
  inputs_ = std::move(*packed);
  return true;
}

std::string LinkPair::OutputPath(std::string_view tool) const {
  const std::filesystem::path place = directory_ / tool;
  std::error_code ignored;
  std::filesystem::create_directories(place, ignored);
  std::filesystem::remove(place / "out.cubin", ignored);
  return (place / "out.cubin").string();
}

bool KeepsLost(std::span<const Diagnostic> diagnostics) {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.code == DiagnosticCode::kForgottenAddress;
  });
}

// The same of a command's words.
static bool SaysThatItKeepsLost(std::string_view messages) {
  return messages.find("devlink note    : variables point to '") != std::string_view::npos ||
         messages.find("devlink note    : only pointers lead to '") != std::string_view::npos ||
         messages.find("devlink note    : constants hold ") != std::string_view::npos ||
         messages.find("devlink note    : the jump table of '") != std::string_view::npos ||
         messages.find("devlink note    : kernels stay beside '") != std::string_view::npos;
}

LinkOutcome LinkPair::RunLinker(const std::string& linker, std::string_view name,
                                const RandomProgram& program) const {
  const std::string output = OutputPath(name);
  std::vector<std::string> command = {linker, "-arch=" + TargetName(target_)};
  command.insert(command.end(), program.link_flags.begin(), program.link_flags.end());
  command.insert(command.end(), inputs_.begin(), inputs_.end());
  command.insert(command.end(), {"-o", output});
  const ProcessResult result = RunProcess(command, kToolLimit);
  LinkOutcome outcome;
  outcome.ok = result.ok();
  outcome.messages = UnderDevlinksName(result.err);
  outcome.keeps_lost = SaysThatItKeepsLost(result.err);
  if (outcome.ok) outcome.cubin = ReadBytes(output).value_or(std::vector<std::uint8_t>{});
  if (result.signal != 0 || result.timed_out) {
    outcome.messages += Cat(name, " crashed, signal ", result.signal, "\n");
  }
  return outcome;
}

LinkOutcome LinkPair::LinkWithNvlink(const RandomProgram& program) {
  return RunLinker(toolkit_.nvlink, "nvlink", program);
}

LinkOutcome LinkPair::LinkWithProgram(const RandomProgram& program, bool as_nvlink) {
  RandomProgram ours = program;
  // Without, references are left to the next link, and each function has lists of its own.
  const bool repeats = as_nvlink || HasFlag(program, "-r") || HasFlag(program, "-preserve-relocs");
  if (repeats) ours.link_flags.emplace_back("--compat=nvlink");
  if (Profile().ok()) ours.link_flags.push_back("--toolkit=" + toolkit_.release);
  LinkOutcome outcome = RunLinker(program_, "devlink", ours);
  outcome.repeats = repeats;
  return outcome;
}

#ifdef DEVLINK_FUZZ_EXTERNAL_ONLY

LinkOutcome LinkPair::LinkInProcess(const RandomProgram& /*program*/, bool /*as_nvlink*/) {
  return {.ok = false, .cubin = {}, .messages = "built without the library; give --devlink\n"};
}

#else

std::string LinkPair::RecordedOptions(bool relocatable) const {
  std::string names;
  for (const std::string& input : inputs_) {
    Append(names, names.empty() ? "" : ",", std::filesystem::path(input).filename().string());
  }
  return Cat(names, " -o out.cubin -g  -arch ", TargetName(target_), relocatable ? " -r  " : " ");
}

namespace {

std::shared_ptr<Toolchain> MakeFinalizerTools(FinalizerBackend backend) {
  ToolchainOptions options;
  if (const auto toolkit = FindToolkit()) {
    options.finalizer.nvjitlink_path = toolkit->nvjitlink;
    options.finalizer.nvlink_path = toolkit->nvlink;
  }
  options.finalizer.backend = backend;
  options.finalizer.worker_path = DEVLINK_FINALIZER;
  options.finalizer.temporary_directory = std::filesystem::temp_directory_path().string();
  return std::make_shared<Toolchain>(options);
}

// Of a program's first file in words, which some cubins have more and some fewer of.
std::uint64_t SizeOfFirst(const std::vector<std::string>& inputs) {
  constexpr std::uintmax_t kWord = 8;
  std::error_code error;
  return inputs.empty() ? 0 : std::filesystem::file_size(inputs.front(), error) / kWord;
}

}  // namespace

std::shared_ptr<Toolchain> FinalizerTools(std::uint64_t number) {
  static const std::array kTools = {MakeFinalizerTools(FinalizerBackend::kNvJitLink),
                                    MakeFinalizerTools(FinalizerBackend::kNvlink)};
  return kTools[number % kTools.size()];
}

LinkOutcome LinkWithLibrary(const LinkOptions& given, const std::vector<std::string>& inputs) {
  LinkOutcome outcome;
  LinkOptions options = given;
  options.end_at_rejected_input = true;
  StackOverwriter progress;
  auto session = LinkSession::Create(
      options, {.toolchain = FinalizerTools(SizeOfFirst(inputs)), .progress = &progress});
  if (!session.ok()) {
    outcome.messages = Cat("LinkSession::Create: ", session.status().ToString(), "\n");
    return outcome;
  }
  // nvlink stops at the first input that it cannot take.
  bool added = true;
  for (const std::string& input : inputs) {
    added = added && session->AddFile(input).ok();
  }
  devlink::LinkOutcome result = session->Link();
  outcome.ok = added && result.ok();
  if (outcome.ok) outcome.cubin = std::move(result.cubin);
  std::string text;
  for (const Diagnostic& d : result.diagnostics) text += RenderDiagnostic(d, "devlink");
  outcome.messages = UnderDevlinksName(text);
  outcome.keeps_lost = KeepsLost(result.diagnostics);
  outcome.repeats = given.compatibility == Compatibility::kNvlink;
  return outcome;
}

LinkOutcome LinkPair::LinkInProcess(const RandomProgram& program, bool as_nvlink) {
  const auto arch = Arch::Parse(TargetName(target_));
  if (!arch.ok()) return {};
  LinkOptions options;
  options.target = *arch;
  options.profile = Profile().value_or(ToolkitProfile());
  options.debug = HasFlag(program, "-g");
  options.relocatable = HasFlag(program, "-r");
  if (as_nvlink || options.relocatable) options.compatibility = Compatibility::kNvlink;
  // With -g nvlink records the names of all files as well, which a session does not know.
  if (options.debug) {
    options.recorded_options = RecordedOptions(options.relocatable);
    options.recorded_object = "out.cubin";
  }
  LinkOutcome outcome = LinkWithLibrary(options, inputs_);
  // For whoever looks at a kept directory.
  if (outcome.ok) WriteBytes(OutputPath("devlink"), outcome.cubin);
  return outcome;
}

#endif

PairResult LinkPair::Check(const RandomProgram& program) {
  std::string error;
  if (!Compile(program, error)) {
    return {.verdict = Verdict::kSkipped, .kind = "compile", .explanation = error};
  }
  return Compare(program);
}

LinkOutcome LinkPair::LinkWithDevlink(const RandomProgram& program) {
  const auto link = [&](bool as_nvlink) {
    return program_.empty() ? LinkInProcess(program, as_nvlink)
                            : LinkWithProgram(program, as_nvlink);
  };
  LinkOutcome outcome = link(false);
  return outcome.keeps_lost ? link(true) : outcome;
}

PairResult LinkPair::Compare(const RandomProgram& program) {
  const LinkOutcome expected = LinkWithNvlink(program);
  const LinkOutcome actual = LinkWithDevlink(program);
  if (expected.messages.find("Internal error") != std::string::npos ||
      expected.messages.find("nvlink crashed") != std::string::npos) {
    // Nothing can be learned from what nvlink itself calls a fault.
    return {.verdict = Verdict::kSkipped, .kind = "nvlink", .explanation = expected.messages};
  }
  if (expected.ok != actual.ok) {
    return {.verdict = Verdict::kDifferent,
            .kind = "status",
            .explanation = Cat("nvlink ", expected.ok ? "succeeds" : "fails", ", devlink ",
                               actual.ok ? "succeeds" : "fails", "\n", expected.messages, "---\n",
                               actual.messages)};
  }
  std::string difference = ExplainDifference(expected.cubin, actual.cubin);
  if (expected.ok && !difference.empty()) {
    return {.verdict = Verdict::kDifferent,
            .kind = "cubin, " + Subject(difference),
            .explanation = std::move(difference)};
  }
  if (const std::string messages = ExpectedMessages(expected, actual);
      messages != actual.messages) {
    return {.verdict = Verdict::kDifferent,
            .kind = "messages",
            .explanation = FirstMessageDifference(messages, actual.messages)};
  }
  if (program.link_again && expected.ok) return CheckAgain(program, expected.cubin);
  return {.verdict = Verdict::kIdentical, .kind = {}, .explanation = {}};
}

PairResult LinkPair::CheckAgain(const RandomProgram& program,
                                const std::vector<std::uint8_t>& relocatable) {
  RandomProgram rest;
  for (const std::string& flag : program.link_flags) {
    if (flag != "-r") rest.link_flags.push_back(flag);
  }
  const std::string input = (directory_ / "relocatable.cubin").string();
  if (!WriteBytes(input, relocatable)) return {.kind = "file", .explanation = "cannot write"};
  inputs_ = {input};
  PairResult result = Compare(rest);
  if (result.verdict == Verdict::kDifferent) result.kind = "linked again: " + result.kind;
  return result;
}

}  // namespace devlink::testing
