// SPDX-License-Identifier: Apache-2.0
#include "devlink/link_session.h"

#include <cstddef>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/severity_policy.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/cicc_option_builder.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "input/input_record.h"
#include "input/register_file.h"
#include "plan/input_reader.h"
#include "plan/link_context.h"
#include "plan/option_conflicts.h"
#include "plan/settings.h"
#include "session/pipeline.h"

namespace devlink {

using internal::InputRecord;
using internal::InputRecordRef;

struct LinkSession::State {
  LinkOptions options;
  SessionContext context;
  std::uint32_t files_read = 0;
  std::vector<InputRecordRef> records;
  std::shared_ptr<MemoryBudget> memory;  // of records, which copies of the session share
  // Why there is no record of an input or a list that was to be added, such as one that memory ran
  // out for. A link without it might be another program.
  absl::Status interrupted;

  [[nodiscard]] internal::LinkContext Context() const {
    return {.environment = *context.environment,
            .memory = memory,
            .pool = context.pool.get(),
            .toolchain = *context.toolchain,
            .definitions = context.definitions,
            .log = context.log,
            .progress = context.progress,
            .passes = context.passes,
            .time_trace = context.time_trace,
            .intermediates = context.intermediates};
  }

  [[nodiscard]] LinkOutcome Link(OutputSink* output) const noexcept {
    LinkOutcome out;
    absl::Status ended = base::Guard([&] {
      if (!interrupted.ok()) return interrupted;
      out = internal::RunLink(records, options, Context(), output);
      return absl::OkStatus();
    });
    if (ended.ok()) return out;
    // What an interrupted link has found so far is lost with it.
    out.status = std::move(ended);
    base::Guard([&] {
      out.diagnostics.push_back(
          format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUsage, "",
                                 std::string(base::FromAbsl(out.status.message()))));
      return absl::OkStatus();
    }).IgnoreError();
    return out;
  }

  template <typename Work>
  absl::Status Adding(Work work) noexcept {
    bool came_back = false;
    absl::Status status = base::Guard([&] {
      absl::Status added = work();
      came_back = true;
      return added;
    });
    if (!came_back) interrupted = status;
    return status;
  }

  absl::Status Add(InputRecordRef record) {
    return records.emplace_back(std::move(record))->status;
  }

  // All of them; the first that is wrong is returned.
  absl::Status AddAll(absl::StatusOr<std::vector<InputRecordRef>> made) {
    if (!made.ok()) {
      if (!absl::IsCancelled(made.status())) interrupted = made.status();
      return made.status();
    }
    absl::Status status;
    for (InputRecordRef& record : *made) status.Update(Add(std::move(record)));
    return status;
  }

  // A record that brings diagnostics and nothing else.
  absl::Status AddNotes(std::vector<Diagnostic> diagnostics, absl::Status status) {
    if (diagnostics.empty() && status.ok()) return status;
    auto record = std::make_shared<InputRecord>();
    record->diagnostics = std::move(diagnostics);
    record->status = std::move(status);
    record->ends_link = !record->status.ok();
    return Add(std::move(record));
  }
};

namespace {

// What there is to report of options alone.
std::vector<Diagnostic> NotesOnOptions(const LinkOptions& options) {
  std::vector<Diagnostic> found;
  if (internal::IgnoresHostInfo(options)) {
    found.push_back(format::MakeDiagnostic(Severity::kInfo, DiagnosticCode::kUsage, "",
                                           std::string(format::nvlink_text::kIgnoringHostInfo)));
  }
  if (options.lto.enabled) {
    CiccOptionBuilder(options.target)
        .EmitPtx(options.lto.emit_ptx)
        .SplitCompileExtended(options.lto.split_compile_extended)
        .CheckCommandLine(found);
  }
  return found;
}

// What searches for libraries have found to say.
class SearchFindings {
 public:
  explicit SearchFindings(const LinkOptions& options)
      : policy_(internal::SeverityPolicyOf(options)) {}

  // False where the search ends the link, which is the last that there is to say then.
  bool Take(FoundLibrary& library) {
    for (Diagnostic& diagnostic : library.diagnostics) {
      if (is_in_error_) return GiveUp(diagnostic);
      const auto severity = policy_.Judge(diagnostic.severity);
      if (!severity) continue;
      is_in_error_ = *severity != diagnostic.severity;
      diagnostic.severity = *severity;
      found_.push_back(diagnostic);
    }
    if (is_in_error_ && !library.path.empty()) return GiveUp(found_.back());
    return library.diagnostics.empty() || library.diagnostics.back().severity != Severity::kFatal;
  }

  // A warning was an error.
  [[nodiscard]] bool is_in_error() const { return is_in_error_; }
  std::vector<Diagnostic> Release() && { return std::move(found_); }

 private:
  // As nvlink at the next file that it looks into.
  bool GiveUp(const Diagnostic& at) {
    found_.push_back(format::MakeDiagnostic(Severity::kFatal, at.code, at.input,
                                            std::string(format::nvlink_text::kInternalError)));
    return false;
  }

  base::SeverityPolicy policy_;
  std::vector<Diagnostic> found_;
  bool is_in_error_ = false;
};

}  // namespace

LinkSession::LinkSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
LinkSession::LinkSession(const LinkSession& other)
    : state_(std::make_unique<State>(*other.state_)) {}
LinkSession& LinkSession::operator=(const LinkSession& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
LinkSession::LinkSession(LinkSession&&) noexcept = default;
LinkSession& LinkSession::operator=(LinkSession&&) noexcept = default;
LinkSession::~LinkSession() = default;

absl::StatusOr<LinkSession> LinkSession::Create(LinkOptions options, SessionContext context) {
  return base::Guard([&]() -> absl::StatusOr<LinkSession> {
    DEVLINK_RETURN_IF_ERROR(internal::CheckOptions(options));
    // A whole program that comes out of LTO needs no linking.
    if (!options.lto.enabled) DEVLINK_RETURN_IF_ERROR(internal::CheckTarget(options.target));
    if (options.recorded_options.empty()) {
      options.recorded_options =
          base::Cat({options.debug ? "-g  " : "", "-arch ", options.target.Name(), " ",
                     options.relocatable ? "-r  " : ""});
    }
    const auto is_empty = [](const std::string& name) { return name.empty(); };
    std::erase_if(options.kernels_used, is_empty);
    std::erase_if(options.variables_used, is_empty);
    auto state = std::make_unique<State>();
    state->memory = std::make_shared<MemoryBudget>(options.max_memory_bytes);
    state->options = std::move(options);
    state->context = std::move(context);
    if (state->context.environment == nullptr) state->context.environment = &Environment::Default();
    if (state->context.toolchain == nullptr)
      state->context.toolchain = std::make_shared<Toolchain>();
    state->AddNotes(NotesOnOptions(state->options), absl::OkStatus()).IgnoreError();
    return LinkSession(std::move(state));
  });
}

absl::StatusOr<std::vector<std::string>> LinkSession::FindLibraries(const LibraryQuery& query) {
  std::vector<std::string> paths;
  DEVLINK_RETURN_IF_ERROR(state_->Adding([&]() -> absl::Status {
    const internal::LinkContext context = state_->Context();
    const internal::InputReader reader(state_->options, context);
    LibraryProbe probe;
    probe.exists = [this](const std::string& path) {
      return state_->context.environment->Exists(path);
    };
    const auto lease = reader.Lease();
    probe.read = reader.MemberReader(*lease);
    SearchFindings found(state_->options);
    const auto ended = [](std::string_view name) {
      return absl::InvalidArgumentError(absl::StrCat("the search for -l", base::ToAbsl(name),
                                                     " ends the link; the diagnostics say why"));
    };
    std::string_view wrong;
    for (const std::string& name : query.names) {
      FoundLibrary library = FindLibrary(name, query.directories, query.arch, probe);
      if (!found.Take(library)) return state_->AddNotes(std::move(found).Release(), ended(name));
      if (found.is_in_error() && wrong.empty()) wrong = name;
      if (library.path.empty() && library.hidden_by.empty() && library.diagnostics.empty()) {
        state_->records.push_back(internal::RecordMissingLibrary(name));
      }
      if (!library.path.empty()) paths.push_back(std::move(library.path));
    }
    // The paths are good for what else may be wrong; nothing is linked.
    state_->AddNotes(std::move(found).Release(), wrong.empty() ? absl::OkStatus() : ended(wrong))
        .IgnoreError();
    return absl::OkStatus();
  }));
  return paths;
}

absl::Status LinkSession::AddFile(const std::string& path) {
  return state_->Adding([&] {
    const internal::LinkContext context = state_->Context();
    context.Report(LinkPhase::kReading, state_->files_read++, 0, path);
    return state_->Add(internal::InputReader(state_->options, context).ReadPath(path));
  });
}

absl::Status LinkSession::AddFiles(std::span<const std::string> paths) {
  return state_->Adding([&] {
    if (paths.empty()) return absl::OkStatus();
    const internal::LinkContext context = state_->Context();
    const std::uint32_t files_read = state_->files_read;
    state_->files_read += static_cast<std::uint32_t>(paths.size());
    const internal::InputReader reader(state_->options, context);
    const std::thread::id caller = std::this_thread::get_id();
    const auto read = [&](std::size_t i, internal::Turns::Turn* turn) {
      if (std::this_thread::get_id() == caller) {
        context.Report(LinkPhase::kReading, files_read + static_cast<std::uint32_t>(i), 0,
                       paths[i]);
      }
      return reader.ReadPath(paths[i], turn);
    };
    return state_->AddAll(internal::ReadAll(paths.size(), state_->options, context.environment,
                                            /*may_read_again=*/true, read));
  });
}

absl::Status LinkSession::AddInputs(std::vector<MemoryInput>&& inputs) {
  return state_->Adding([&] {
    const internal::LinkContext context = state_->Context();
    const internal::InputReader reader(state_->options, context);
    const auto read = [&](std::size_t i, internal::Turns::Turn* turn) {
      return reader.ReadBytes(inputs[i].name, std::move(inputs[i].bytes), turn);
    };
    return state_->AddAll(internal::ReadAll(inputs.size(), state_->options, context.environment,
                                            /*may_read_again=*/false, read));
  });
}

absl::Status LinkSession::AddViews(std::span<const InputView> inputs) {
  return state_->Adding([&] {
    const internal::LinkContext context = state_->Context();
    const internal::InputReader reader(state_->options, context);
    const auto read = [&](std::size_t i, internal::Turns::Turn* turn) {
      return reader.ReadCopy(inputs[i].name, inputs[i].bytes, turn);
    };
    return state_->AddAll(internal::ReadAll(inputs.size(), state_->options, context.environment,
                                            /*may_read_again=*/true, read));
  });
}

absl::Status LinkSession::AddCubin(std::string_view name, std::span<const std::uint8_t> bytes,
                                   HostReferences references) {
  return state_->Adding([&] {
    const internal::LinkContext context = state_->Context();
    return state_->Add(internal::InputReader(state_->options, context)
                           .ReadCubin(name, bytes, std::move(references)));
  });
}

absl::Status LinkSession::AddCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                   HostReferences references) {
  return state_->Adding([&] {
    const internal::LinkContext context = state_->Context();
    return state_->Add(internal::InputReader(state_->options, context)
                           .ReadCubin(name, std::move(bytes), std::move(references)));
  });
}

absl::Status LinkSession::AddModule(std::string_view name, ModuleRef module,
                                    HostReferences references) {
  return state_->Adding([&]() -> absl::Status {
    if (module == nullptr) return absl::InvalidArgumentError("there is no module");
    return state_->Add(internal::RecordModule(name, std::move(module), std::move(references),
                                              internal::InputSettingsOf(state_->options)));
  });
}

absl::Status LinkSession::AddInput(std::string_view name, std::vector<std::uint8_t>&& bytes) {
  return state_->Adding([&] {
    const internal::LinkContext context = state_->Context();
    return state_->Add(
        internal::InputReader(state_->options, context).ReadBytes(name, std::move(bytes)));
  });
}

absl::Status LinkSession::AddView(std::string_view name, std::span<const std::uint8_t> bytes) {
  return state_->Adding([&] {
    const internal::LinkContext context = state_->Context();
    return state_->Add(internal::InputReader(state_->options, context).ReadCopy(name, bytes));
  });
}

void LinkSession::AddHostReferences(HostReferences references) {
  state_->Adding([&] { return state_->Add(internal::RecordReferences(std::move(references))); })
      .IgnoreError();
}

LinkOutcome LinkSession::Link() const { return state_->Link(nullptr); }

LinkOutcome LinkSession::LinkTo(OutputSink& output) const { return state_->Link(&output); }

std::vector<Diagnostic> LinkSession::diagnostics(std::size_t first) const {
  std::vector<Diagnostic> out;
  for (std::size_t i = first; i < state_->records.size(); ++i) {
    internal::AppendFindings(*state_->records[i], out);
  }
  internal::PutInWords(state_->options, out);
  return out;
}

std::size_t LinkSession::entries() const { return state_->records.size(); }

std::vector<InputReferences> LinkSession::host_references() const {
  std::vector<InputReferences> out;
  for (const InputRecordRef& record : state_->records) {
    if (!record->status.ok()) continue;  // left out
    for (const internal::ObjectRecord& object : record->objects) {
      out.push_back({object.name, object.references});
    }
    if (record->has_silent_host_object) out.push_back({record->name, {}});
  }
  return out;
}

std::string RegisterFileText(const LinkOutcome& outcome, std::string_view working_directory) {
  std::vector<std::string> made;
  made.reserve(outcome.registered.size());
  std::vector<internal::RegisteredModule> modules;
  for (const RegisteredInput& input : outcome.registered) {
    internal::RegisteredModule& module = modules.emplace_back();
    module.left_out = input.left_out;
    if (input.ids.empty()) {
      made.push_back(internal::MakeModuleId(working_directory, input.name));
      module.ids.emplace_back(made.back());
    }
    module.ids.insert(module.ids.end(), input.ids.begin(), input.ids.end());
  }
  return internal::RegisterFileText(modules, outcome.is_whole_program);
}

bool KeepsRegisterFile(const LinkOutcome& outcome, const std::string& existing) {
  return internal::KeepRegisterFile(existing, outcome.dropped_device_runtime);
}

}  // namespace devlink
