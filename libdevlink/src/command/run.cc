// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "command/add_inputs.h"
#include "command/files_read.h"
#include "command/host_linker_script.h"
#include "command/kept_files.h"
#include "command/network_cache_module.h"
#include "command/output_file.h"
#include "command/output_names.h"
#include "command/reports.h"
#include "command/reproduction.h"
#include "command/time_table.h"
#include "command/toolkit_places.h"
#include "command/words.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/link_passes.h"
#include "devlink/experimental/time_trace.h"
#include "devlink/link_session.h"
#include "devlink/nvlink_command.h"
#include "format/nvlink_text.h"
#include "plan/settings.h"

namespace devlink {

namespace {

constexpr int kFatalStatus = 1;
constexpr int kErrorStatus = 255;
constexpr std::uint64_t kMaxRegisterFile = std::uint64_t{64} << 20;
// From this size on ptxas assembles a text in less time, its process included
// (docs/ptx-assembly.md).
constexpr std::uint64_t kLongText = 16 << 10;

int ExitStatus(const std::vector<Diagnostic>& diagnostics) {
  int status = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kFatal) return kFatalStatus;
    if (diagnostic.severity == Severity::kError) status = kErrorStatus;
  }
  return status;
}

// Prints what the passes found that --print-after names.
class PassPrinter final : public PassObserver {
 public:
  PassPrinter(const NvlinkCommand& command, const CommandSinks& sinks)
      : wanted_(command.print_after), out_(sinks.out) {}

  void After(LinkPass pass, const std::function<std::string()>& text) override {
    if (!out_ || std::find(wanted_.begin(), wanted_.end(), pass) == wanted_.end()) return;
    out_(base::Cat({"--- after ", PassName(pass), "\n", text()}));
  }

 private:
  const std::vector<LinkPass>& wanted_;
  const std::function<void(std::string_view text)>& out_;
};

// One run of one command.
class Run {
 public:
  Run(const NvlinkCommand& command, const CommandContext& context, const CommandSinks& sinks)
      : command_(command),
        context_(context),
        sinks_(sinks),
        printer_(command, sinks),
        files_(context.environment != nullptr ? *context.environment : Environment::Default()) {}

  // Links, then writes the time trace, of a link that fails, too.
  int Link();
  void Say(const Diagnostic& diagnostic) const {
    if (sinks_.say) sinks_.say(diagnostic);
  }
  // A line behind the sentence says why. With -report-arch the target follows the sentence.
  int Fail(const absl::Status& status) const {
    Diagnostic fatal;
    fatal.severity = Severity::kFatal;
    fatal.text = std::string(status.message());
    if (const std::size_t end = fatal.text.rfind('\n'); end != std::string::npos) {
      if (command_.options.compatibility != Compatibility::kNvlink) {
        fatal.notes.push_back(fatal.text.substr(end + 1));
      }
      fatal.text.resize(end);
    }
    const LinkOptions& options = command_.options;
    if (options.report_arch)
      fatal.text += base::Cat({" (target: ", internal::TargetName(options), ")"});
    Say(fatal);
    return kFatalStatus;
  }

 private:
  absl::Status OpenTimeTable();
  absl::Status ReadOptionFiles();
  absl::StatusOr<LinkSession> Open();
  int LinkAndWrite();
  void SayAll(const std::vector<Diagnostic>& diagnostics) const;
  void LogCacheUse() const;
  int LinkTo(internal::OutputFile& output, LinkSession& session);
  // Says what there is to say, and writes the files.
  int Finish(const LinkOutcome& outcome, internal::OutputFile& output);
  std::optional<std::string> RegisterFile(const LinkOutcome& outcome) const;
  absl::Status WriteResults(const LinkOutcome& outcome, internal::OutputFile& output) const;

  const NvlinkCommand& command_;
  const CommandContext& context_;
  const CommandSinks& sinks_;
  PassPrinter printer_;
  internal::FilesRead files_;
  std::vector<std::string> libraries_;  // that -l means, in their order
  TimeTrace trace_;
  std::optional<internal::TimeTable> time_table_;
  std::optional<internal::KeptFiles> kept_;
  std::optional<std::string> host_section_;
  std::shared_ptr<Toolchain> toolchain_;
  bool lacks_lto_library_ = false;
  absl::Status names_;  // whether each output has a file of its own
};

// A file that must be there and not be empty.
absl::StatusOr<std::string> ReadWhole(const LinkOptions& options, const std::string& path) {
  const auto bytes = base::ReadFile(path, options.max_input_bytes);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(base::ToAbsl(format::nvlink_text::CouldNotOpen(path)));
  }
  if (bytes->empty()) {
    return absl::InvalidArgumentError(base::Cat({"Could not read file '", path, "'"}));
  }
  return std::string(bytes->begin(), bytes->end());
}

absl::Status Run::OpenTimeTable() {
  if (!command_.time_table) return absl::OkStatus();
  auto table = internal::TimeTable::Open(*command_.time_table, sinks_.out);
  if (!table.ok()) return table.status();
  time_table_ = *std::move(table);
  return absl::OkStatus();
}

absl::Status Run::ReadOptionFiles() {
  const LinkOptions& options = command_.options;
  if (command_.index_file) {
    DEVLINK_RETURN_IF_ERROR(ReadWhole(options, *command_.index_file).status());
    return absl::InvalidArgumentError("Internal error: not uidx input");
  }
  if (command_.host_file) {
    DEVLINK_ASSIGN_OR_RETURN(host_section_, ReadWhole(options, *command_.host_file));
    files_.Add(*command_.host_file);
  }
  return absl::OkStatus();
}

absl::StatusOr<LinkSession> Run::Open() {
  LinkOptions options = command_.options;
  // As with nvlink, the first input that cannot be used ends the run, and nothing is said of files
  // without device code: builds name many.
  options.end_at_rejected_input = true;
  options.pass_over_silently = true;
  options.host_section = host_section_;
  options.recorded_tool = command_.tool_name;
  options.details = internal::WantsDetails(command_);
  ToolchainOptions tools = command_.toolchain;
  internal::FindTools(context_, options, tools);
  tools.ptx.ptxas_from_bytes = kLongText;
  lacks_lto_library_ = internal::LacksLtoLibrary(options, tools);
  internal::AdviseOnTools(tools);
  if (!command_.toolkit_given) options.profile = internal::ProfileOfToolkit(tools.ptx.ptxas_path);
  if (command_.register_file) options.register_directory = context_.working_directory;
  if (!command_.cache.empty()) {
    DEVLINK_ASSIGN_OR_RETURN(tools.cache, CreateDirectoryCache({.path = command_.cache}));
  }
  if (!command_.remote_cache.empty()) {
    DEVLINK_ASSIGN_OR_RETURN(auto shared,
                             internal::OpenNetworkCache(context_, command_.remote_cache));
    tools.cache = tools.cache == nullptr
                      ? std::move(shared)
                      : CreateTieredCache(std::move(tools.cache), std::move(shared));
  }
  toolchain_ = std::make_shared<Toolchain>(std::move(tools));
  return LinkSession::Create(std::move(options),
                             {.environment = &files_,
                              .toolchain = toolchain_,
                              .log = sinks_.log,
                              .progress = sinks_.progress,
                              .passes = command_.print_after.empty() ? nullptr : &printer_,
                              .time_trace = command_.time_trace.empty() ? nullptr : &trace_,
                              .intermediates = kept_ ? &*kept_ : nullptr});
}

// Nothing where the file that is there stays as it is.
std::optional<std::string> Run::RegisterFile(const LinkOutcome& outcome) const {
  if (!command_.register_file) return std::nullopt;
  // nvlink may write a whole program and then miss the device runtime.
  if (ExitStatus(outcome.diagnostics) == kFatalStatus) return std::nullopt;
  const auto old = base::ReadFile(*command_.register_file, kMaxRegisterFile);
  if (old.ok() && KeepsRegisterFile(outcome, std::string(old->begin(), old->end()))) {
    return std::nullopt;
  }
  return RegisterFileText(outcome, context_.working_directory);
}

// All of them or none, but as nvlink does where that is wanted.
absl::Status Run::WriteResults(const LinkOutcome& outcome, internal::OutputFile& output) const {
  std::list<internal::OutputFile> texts;
  std::vector<internal::OutputFile*> files;
  const auto add = [&](const std::string& path, std::string_view text) {
    files.push_back(&texts.emplace_back(path));
    return files.back()->Write(text);
  };
  if (!command_.options.check_only || command_.options.lto.enabled) {
    if (outcome.ptx.empty()) {
      files.push_back(&output);
    } else {
      DEVLINK_RETURN_IF_ERROR(add(command_.output, outcome.ptx));
    }
  }
  // nvlink has written the one when it comes to the other.
  if (command_.options.compatibility == Compatibility::kNvlink) {
    DEVLINK_RETURN_IF_ERROR(internal::CommitAll(files));
    files.clear();
  }
  if (const auto text = RegisterFile(outcome)) {
    DEVLINK_RETURN_IF_ERROR(add(*command_.register_file, *text));
  }
  DEVLINK_ASSIGN_OR_RETURN(const auto reports,
                           internal::ReportFiles(command_, outcome, files_.paths()));
  for (const internal::ReportFile& report : reports) {
    DEVLINK_RETURN_IF_ERROR(add(report.path, report.text));
  }
  return internal::CommitAll(files);
}

int Run::LinkAndWrite() {
  const absl::Status read = ReadOptionFiles();
  if (command_.retained_symbols_file) files_.Add(*command_.retained_symbols_file);
  if (!command_.keep_dir.empty()) {
    const absl::Status opened = kept_.emplace(command_, context_).Open();
    if (!opened.ok()) return Fail(opened);
  }
  auto session = Open();
  if (!session.ok()) return Fail(session.status());
  const internal::AddedInputs added =
      internal::AddInputs(command_,
                          {.library_path = context_.library_path,
                           .files = files_,
                           .lacks_lto_library = lacks_lto_library_,
                           .option_files = read,
                           .open_time_table = [this] { return OpenTimeTable(); }},
                          *session);
  libraries_ = added.libraries;
  names_ = internal::CheckOutputsOverInputs(command_, files_.paths());
  if (!names_.ok()) return Fail(names_);
  if (added.is_linked()) {
    internal::OutputFile output(command_.output);
    return LinkTo(output, *session);
  }
  const std::vector<Diagnostic> found = session->diagnostics();
  SayAll(found);
  if (!added.status.ok()) return Fail(added.status);
  const int status = ExitStatus(found);
  return status == 0 ? kErrorStatus : status;
}

int Run::LinkTo(internal::OutputFile& output, LinkSession& session) {
  const LinkOutcome outcome =
      session.LinkTo(kept_ ? kept_->Follow(output) : static_cast<OutputSink&>(output));
  int status = Finish(outcome, output);
  if (kept_) {
    const absl::Status kept = kept_->Finish(outcome);
    if (!kept.ok()) status = Fail(kept);
  }
  if (!command_.dot_file || !outcome.call_graph_dot) return status;
  // As with nvlink, whatever became of the link.
  const absl::Status written = internal::WriteTextFile(*command_.dot_file, *outcome.call_graph_dot);
  return written.ok() ? status : Fail(written);
}

int Run::Finish(const LinkOutcome& outcome, internal::OutputFile& output) {
  absl::Status timed;
  LogCacheUse();
  if (time_table_) {
    timed = time_table_->Append(outcome.compiler_runs, internal::TargetName(command_.options));
  }
  SayAll(outcome.diagnostics);
  // nvlink loses what it cannot write there.
  const bool as_nvlink = command_.options.compatibility == Compatibility::kNvlink;
  if (!timed.ok() && !as_nvlink) return Fail(timed);
  const int status = ExitStatus(outcome.diagnostics);
  if (outcome.ok() || (outcome.report.details && !outcome.report.details->functions.empty())) {
    const auto answers = internal::AnswersOf(command_, outcome.report);
    if (!answers.ok()) return Fail(answers.status());
    if (sinks_.out) sinks_.out(*answers);
  }
  if (outcome.ok()) {
    const absl::Status written = WriteResults(outcome, output);
    return written.ok() ? status : Fail(written);
  }
  // nvlink writes the register file also of a link that ends with errors, if none is fatal.
  if (outcome.inputs_accepted && status == kErrorStatus) {
    if (const auto text = RegisterFile(outcome)) {
      internal::WriteTextFile(*command_.register_file, *text).IgnoreError();
    }
  }
  return status != 0 ? status : Fail(outcome.status);
}

void Run::SayAll(const std::vector<Diagnostic>& diagnostics) const {
  const std::uint32_t limit = command_.error_limit;
  std::uint32_t errors = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    const bool is_error = diagnostic.severity == Severity::kError;
    if (!is_error || ++errors <= limit || limit == 0) Say(diagnostic);
  }
  if (limit == 0 || errors <= limit) return;
  Diagnostic more;
  more.severity = Severity::kInfo;
  more.notes.push_back(
      absl::StrCat(errors - limit, " more errors; --error-limit=0 shows them all"));
  Say(more);
}

// A cache never shows in the output or in what is said, so that the log is where it does.
void Run::LogCacheUse() const {
  if (command_.cache.empty() && command_.remote_cache.empty()) return;
  if (sinks_.log == nullptr || !sinks_.log->Wants(LogLevel::kInfo)) return;
  const CacheUse use = toolchain_->cache_use();
  sinks_.log->Write(LogLevel::kInfo, base::FromAbsl(absl::StrCat(
                                         "cache: ", use.hits, " found, ", use.misses, " compiled, ",
                                         use.stored, " stored, ", use.faults, " faults")));
  for (const std::string& problem : use.problems) {
    sinks_.log->Write(LogLevel::kInfo, base::VisibleText(problem));
  }
}

int Run::Link() {
  names_ = internal::CheckOutputNames(command_);
  if (!names_.ok()) return Fail(names_);
  int status = LinkAndWrite();
  if (!names_.ok()) return status;
  if (!command_.reproduce.empty()) {
    const absl::Status kept =
        internal::WriteReproduction(command_, context_, files_.paths(), libraries_, files_.base());
    if (!kept.ok()) status = Fail(kept);
  }
  if (command_.time_trace.empty()) return status;
  const absl::Status written = internal::WriteTextFile(command_.time_trace, trace_.Json());
  return written.ok() ? status : Fail(written);
}

}  // namespace

std::string RenderCommandLine(const Diagnostic& diagnostic, std::string_view tool) {
  Diagnostic line = diagnostic;
  line.notes.clear();
  Diagnostic notes;
  notes.notes = diagnostic.notes;
  return RenderDiagnostic(line, tool) + RenderDiagnostic(notes, "devlink");
}

int RunNvlinkCommand(const NvlinkCommand& command, const CommandContext& context,
                     const CommandSinks& sinks) {
  int exit_status = 0;
  const absl::Status ended = base::Guard([&] {
    Run run(command, context, sinks);
    const bool tells = command.help || command.version;
    if (!tells && command.host_linker_script != HostLinkerScript::kNone) {
      const absl::Status made = internal::WriteHostLinkerScript(command, context, sinks);
      exit_status = made.ok() ? 0 : run.Fail(made);
    } else if (!tells) {
      exit_status = run.Link();
    } else if (sinks.out) {
      sinks.out(command.help ? NvlinkHelpText(command.help_form)
                             : NvlinkVersionText(command.options.profile,
                                                 command.tool_name.value_or(context.program_name)));
    }
    return absl::OkStatus();
  });
  if (ended.ok()) return exit_status;
  base::Guard([&] {
    Run(command, context, sinks).Fail(ended);
    return absl::OkStatus();
  }).IgnoreError();
  return kFatalStatus;
}

}  // namespace devlink
