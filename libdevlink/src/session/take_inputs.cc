// SPDX-License-Identifier: Apache-2.0
//
// From files to modules: what is in an input, which code of it suits the target, and what has to be
// assembled first.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/caching_compilers.h"
#include "devlink/experimental/library_search.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/make_diagnostic.h"
#include "input/admission.h"
#include "input/recognise.h"
#include "model/module.h"
#include "plan/assembler_lines.h"
#include "session/session_state.h"

namespace devlink {

using internal::ContentKind;
using internal::DeviceBlob;
using internal::FoundCode;

void LinkSession::State::Log(std::string_view line) const {
  if (log != nullptr && log->Wants(LogLevel::kDebug)) log->Write(LogLevel::kDebug, line);
}

void LinkSession::State::Report(LinkPhase phase, std::uint32_t done, std::uint32_t total,
                                std::string_view subject) const {
  if (progress != nullptr) {
    progress->Report({.phase = phase, .done = done, .total = total, .subject = subject});
  }
}

// nvlink -report-arch.
void LinkSession::State::Say(Diagnostic diagnostic) {
  if (options.report_arch && !diagnostic.verbatim) {
    diagnostic.text += base::Cat({" (target: ", internal::TargetName(options), ")"});
  }
  diagnostics.push_back(std::move(diagnostic));
}

// PTX that came before is assembled first, so that what is wrong with it is said first.
absl::Status LinkSession::State::Refuse(Diagnostic diagnostic, absl::StatusCode code) {
  DEVLINK_RETURN_IF_ERROR(AssemblePending());
  std::string message = diagnostic.text;
  for (const std::string& note : diagnostic.notes) absl::StrAppend(&message, "; ", note);
  Say(std::move(diagnostic));
  return {code, message};
}

void LinkSession::State::Append(std::string name, ModuleRef module, HostReferences references) {
  set.inputs.push_back({std::move(name), std::move(module)});
  set.references.push_back(std::move(references));
  places.push_back(next_place++);
}

absl::Status LinkSession::State::Add(std::string name, ModuleRef module,
                                     HostReferences references) {
  auto obstacle = internal::FindObstacle(name, *module, options);
  if (obstacle && !options.check_only) {
    return Refuse(*std::move(obstacle), absl::StatusCode::kFailedPrecondition);
  }
  DEVLINK_RETURN_IF_ERROR(SayWithoutLto(name));
  Append(std::move(name), std::move(module), std::move(references));
  return absl::OkStatus();
}

absl::Status LinkSession::State::TakeFile(std::string_view name,
                                          std::vector<std::uint8_t>&& bytes) {
  internal::ExpandOptions expand;
  expand.compatibility = options.compatibility;
  expand.lto = options.lto.enabled;
  expand.read_file = [limit = options.max_input_bytes](const std::string& path) {
    return base::ReadFile(path, limit);
  };
  return TakeExpansion(name, internal::ExpandInput(name, bytes, expand));
}

absl::Status LinkSession::State::TakeExpansion(std::string_view name,
                                               const internal::Expansion& expansion) {
  for (const DeviceBlob& blob : expansion.blobs) {
    if (blob.module_ids.mixed) DEVLINK_RETURN_IF_ERROR(RefuseMixedIds(blob.name));
    NotePrelinked(blob.module_ids.prelinked);
    DEVLINK_RETURN_IF_ERROR(TakeBlob(blob));
  }
  if (expansion.mixed_module_ids) DEVLINK_RETURN_IF_ERROR(RefuseMixedIds(std::string(name)));
  NotePrelinked(expansion.prelinked_ids);
  if (expansion.silent_host_object) {
    set.references.emplace_back();
    lto.references.emplace_back();
    lto.last_host_object = name;
    lto.object_after_runtime |= !lto.runtime.empty();
  }
  if (expansion.diagnostics.empty()) return absl::OkStatus();
  DEVLINK_RETURN_IF_ERROR(AssemblePending());
  for (const Diagnostic& diagnostic : expansion.diagnostics) Say(diagnostic);
  if (!expansion.fatal()) return absl::OkStatus();
  return absl::InvalidArgumentError(base::ToAbsl(expansion.diagnostics.back().text));
}

absl::Status LinkSession::State::TakeBlob(const DeviceBlob& blob) {
  // LTO IR in a file of its own has no place in nvlink's list.
  const bool registers = !blob.further_section && blob.kind != ContentKind::kLtoIr;
  if (registers) Register(blob);
  // All sections of an object share the fate of its first.
  if (!blob.further_section) {
    left_out_object = false;
    if (blob.is_cudadevrt && !options.lto.enabled && !options.check_only) {
      DEVLINK_ASSIGN_OR_RETURN(left_out_object, LeavesOutRuntime());
    }
  }
  if (left_out_object) return absl::OkStatus();
  return EndRegistered(TakeCodeOf(blob), registers);
}

// Whether the device runtime, which was registered just now, is left out: it was linked before, or
// nothing needs it.
absl::StatusOr<bool> LinkSession::State::LeavesOutRuntime() {
  if (absl::Status assembled = AssemblePending(); !assembled.ok()) {
    registered.pop_back();
    return assembled;
  }
  const std::vector<bool> left_out = FindLeftOut();
  if (left_out.back()) return true;
  if (options.keep_system_libraries) return false;
  registered.back().is_runtime = AnythingUndefined(
      LeavesOutPrelinked() ? Remaining(left_out, registered.size() - 1).inputs : set.inputs);
  if (registered.back().is_runtime) return false;
  registered.pop_back();
  dropped_cudadevrt = true;
  return true;
}

absl::Status LinkSession::State::TakeCodeOf(const DeviceBlob& blob) {
  std::vector<FoundCode> found;
  if (blob.kind == ContentKind::kFatbin) {
    std::vector<Diagnostic> said;
    const absl::Status status = internal::FindCodeInFatbin(blob, options, found, said);
    if (!said.empty()) DEVLINK_RETURN_IF_ERROR(AssemblePending());
    for (Diagnostic& diagnostic : said) Say(std::move(diagnostic));
    DEVLINK_RETURN_IF_ERROR(status);
  } else {
    found.push_back({.kind = blob.kind == ContentKind::kPtx     ? CodeKind::kPtx
                             : blob.kind == ContentKind::kLtoIr ? CodeKind::kNvvm
                                                                : CodeKind::kSass,
                     .bytes = {blob.bytes.begin(), blob.bytes.end()},
                     .options = std::nullopt});
  }
  // Nor has a fat binary of LTO IR alone.
  const bool is_ir = !blob.from_host_object && !found.empty() &&
                     std::all_of(found.begin(), found.end(), [](const FoundCode& code) {
                       return code.kind == CodeKind::kNvvm;
                     });
  if (is_ir && blob.kind == ContentKind::kFatbin) registered.back().is_ir = true;
  if (found.empty()) set.references.push_back(blob.references);
  if (options.lto.enabled && blob.from_host_object) MeetHostObject(blob);
  for (FoundCode& code : found) {
    DEVLINK_RETURN_IF_ERROR(TakeCode(blob, std::move(code), blob.references));
  }
  return absl::OkStatus();
}

absl::Status LinkSession::State::TakeCode(const DeviceBlob& blob, FoundCode&& code,
                                          HostReferences references) {
  if (code.kind == CodeKind::kNvvm) return TakeLtoIr(blob, std::move(code));
  if (blob.is_cudadevrt && options.lto.enabled) return HoldRuntime(blob, std::move(code));
  if (code.kind == CodeKind::kPtx) {
    pending.push_back({.input = set.inputs.size(),
                       .text = std::string(code.bytes.begin(), code.bytes.end()),
                       .member_options = std::move(code.options)});
    Append(blob.name, nullptr, std::move(references));
    return absl::OkStatus();
  }
  return TakeCubin(blob.name, std::move(code.bytes), std::move(references));
}

absl::Status LinkSession::State::TakeCubin(std::string name, std::vector<std::uint8_t>&& bytes,
                                           HostReferences references) {
  // The pool takes the bytes over; how they begin is enough to describe them.
  const std::size_t size = bytes.size();
  const auto end =
      bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, internal::kDescribedHead));
  const std::vector<std::uint8_t> head(bytes.begin(), end);
  auto module = pool->AddCubin(std::move(bytes));
  if (module.ok()) return Add(std::move(name), *std::move(module), std::move(references));
  return Refuse(internal::DescribeMalformed(name, head, size, module.status()),
                absl::StatusCode::kInvalidArgument);
}

absl::StatusOr<std::vector<std::string>> LinkSession::State::AssemblerArguments(
    const PendingPtx& ptx) {
  PtxasOptionBuilder builder = internal::AssemblerOptions(options, options.target);
  if (ptx.member_options) builder.MemberOptions(*ptx.member_options);
  std::vector<Diagnostic> found;
  auto arguments = builder.Build(&found);
  for (Diagnostic& diagnostic : found) Say(std::move(diagnostic));
  return arguments;
}

// `name` is that of a PTX text, for the message.
absl::Status LinkSession::State::OpenAssembler(const std::string& name) {
  if (assembler != nullptr) return absl::OkStatus();
  PtxBackendOptions backend = options.ptx_backend;
  backend.profile = options.profile;
  const auto keep = [this](auto result) -> absl::Status {
    if (!result.ok()) return result.status();
    assembler = *std::move(result);
    return absl::OkStatus();
  };
  absl::Status made = options.cache != nullptr
                          ? keep(CreateCachingPtxAssembler(backend, options.cache))
                          : keep(CreatePtxAssembler(backend));
  if (made.ok()) return absl::OkStatus();
  Diagnostic fatal = internal::MakeAssemblyError(
      name, base::Cat({"'", name, "' is PTX, and there is nothing to assemble it with: ",
                       base::FromAbsl(made.message())}));
  fatal.code = DiagnosticCode::kUnsupportedInput;
  Say(std::move(fatal));
  return made;
}

absl::Status LinkSession::State::AssemblePending() {
  if (pending.empty()) return absl::OkStatus();
  absl::Status status = AssembleAndTake(std::exchange(pending, {}));
  if (!status.ok()) ForgetUnassembled();
  return status;
}

// All at once, in parallel; the results are taken in link order, up to the first that failed.
absl::Status LinkSession::State::AssembleAndTake(const std::vector<PendingPtx>& work) {
  DEVLINK_RETURN_IF_ERROR(OpenAssembler(set.inputs[work.front().input].name));
  std::vector<PtxJob> jobs;
  for (const PendingPtx& ptx : work) {
    DEVLINK_ASSIGN_OR_RETURN(std::vector<std::string> arguments, AssemblerArguments(ptx));
    jobs.push_back(
        {.name = set.inputs[ptx.input].name, .text = ptx.text, .arguments = std::move(arguments)});
  }
  Log(absl::StrCat("assembling ", jobs.size(), " texts with ", base::ToAbsl(assembler->name())));
  std::vector<PtxResult> results = AssembleAll(*assembler, jobs, options.ptx_parallel, progress);
  for (std::size_t i = 0; i < results.size(); ++i) {
    DEVLINK_RETURN_IF_ERROR(TakeAssembled(work[i], results[i]));
  }
  return absl::OkStatus();
}

absl::Status LinkSession::State::TakeAssembled(const PendingPtx& ptx, PtxResult& result) {
  const std::string name = set.inputs[ptx.input].name;
  std::vector<Diagnostic> found;
  absl::Status status = internal::TakeAssemblerLines(
      name, base::Cat({"the PTX is that of '", name, "'"}), result, found);
  for (Diagnostic& diagnostic : found) Say(std::move(diagnostic));
  if (!status.ok()) return status;
  DEVLINK_ASSIGN_OR_RETURN(ModuleRef module, pool->AddCubin(std::move(result.cubin)));
  if (auto obstacle = internal::FindObstacle(name, *module, options)) {
    return Refuse(*std::move(obstacle), absl::StatusCode::kFailedPrecondition);
  }
  set.inputs[ptx.input].module = std::move(module);
  return SayWithoutLto(name);
}

// Whether any input refers to a name that none defines: what decides on libcudadevrt.
bool LinkSession::State::AnythingUndefined(const std::vector<internal::LinkInput>& all) {
  absl::flat_hash_set<std::string_view> defined;
  absl::flat_hash_set<std::string_view> wanted;
  for (const internal::LinkInput& input : all) {
    const internal::ModuleView& view = input.module->sass();
    for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
      const internal::InputSymbol symbol = view.SymbolAt(i);
      if (symbol.name.empty() || symbol.binding == format::kStbLocal) continue;
      if (symbol.section != format::kShnUndef) {
        defined.insert(symbol.name);
      } else if (symbol.binding != format::kStbWeak && !format::IsTextureType(symbol.type) &&
                 !format::IsKnownToDriver(symbol.name)) {
        wanted.insert(symbol.name);
      }
    }
  }
  for (const std::string_view name : wanted) {
    if (!defined.contains(name)) return true;
  }
  return false;
}

// False where the search ends the link, which is said then.
bool LinkSession::State::SayOfSearch(FoundLibrary& library) {
  for (Diagnostic& diagnostic : library.diagnostics) {
    const bool warning = diagnostic.severity == Severity::kWarning;
    if (warning && options.suppress_warnings) continue;
    if (warning && options.warnings_are_errors) {
      diagnostic.severity = Severity::kError;
      Say(diagnostic);
      Say(format::MakeDiagnostic(Severity::kFatal, diagnostic.code, diagnostic.input,
                                 "elfLink internal error"));
      return false;
    }
    Say(std::move(diagnostic));
  }
  return library.diagnostics.empty() || library.diagnostics.back().severity != Severity::kFatal;
}

absl::StatusOr<std::vector<std::string>> LinkSession::FindLibraries(const LibraryQuery& query) {
  LibraryProbe probe;
  probe.exists = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  };
  probe.read = [limit = state_->options.max_input_bytes](const std::string& path) {
    return base::ReadFile(path, limit);
  };
  std::vector<std::string> paths;
  for (const std::string& name : query.names) {
    FoundLibrary library = FindLibrary(name, query.directories, query.arch, probe);
    if (!state_->SayOfSearch(library)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the search for -l", name, " ends the link; the diagnostics say why"));
    }
    if (!library.path.empty()) paths.push_back(std::move(library.path));
  }
  return paths;
}

absl::Status LinkSession::AddFile(const std::string& path) {
  state_->Report(LinkPhase::kReading, state_->files_read++, 0, path);
  auto file = base::ReadFileAndIdentity(path, state_->options.max_input_bytes);
  if (!file.ok()) {
    return state_->Refuse(internal::DescribeUnreadable(path, file.status()), file.status().code());
  }
  if (internal::IsArchive(internal::Recognise(file->bytes)) &&
      !state_->archives.insert(file->identity).second) {
    return absl::OkStatus();
  }
  return AddInput(path, std::move(file->bytes));
}

absl::Status LinkSession::AddInput(std::string_view name, std::vector<std::uint8_t>&& bytes) {
  const ContentKind kind = internal::Recognise(bytes);
  const bool plain = kind == ContentKind::kCudaRelocatable &&
                     state_->options.compatibility == Compatibility::kDevlink &&
                     !state_->options.lto.enabled &&
                     name.find("cudadevrt") == std::string_view::npos;
  if (!plain) return state_->TakeFile(name, std::move(bytes));
  DeviceBlob blob;
  blob.name = name;
  state_->Register(blob);
  return state_->EndRegistered(AddCubin(name, std::move(bytes)));
}

bool LinkSession::HasPtx() const { return !state_->pending.empty(); }

}  // namespace devlink
