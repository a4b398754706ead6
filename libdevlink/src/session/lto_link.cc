// SPDX-License-Identifier: Apache-2.0
//
// The part of a link that is there with LTO only: LTO IR is collected while inputs are taken,
// compiled at once when all are known, and the result is the output or one more input.
#include "session/lto_link.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/release.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/caching_compilers.h"
#include "devlink/experimental/nvvm_pass_options.h"
#include "devlink/experimental/nvvm_program.h"
#include "devlink/experimental/option_consensus.h"
#include "format/make_diagnostic.h"
#include "input/admission.h"
#include "lto/lto_messages.h"
#include "plan/assembler_lines.h"
#include "session/session_state.h"

namespace devlink {

using internal::DeviceBlob;
using internal::FoundCode;
using internal::HeldRuntime;
using internal::LinkInput;
using internal::LtoAttempt;
using internal::LtoChoices;
using internal::LtoHostInput;
using internal::LtoInput;

namespace {

// What nvlink calls the result in its messages.
constexpr const char* kResultName = "lto.cubin";

// What the functions of the device runtime are called.
constexpr std::string_view kRuntimePrefix = "__cudaCDP2";

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// nvlink does not count libdevice as a reason to compile anything.
bool IsLibdevice(std::string_view name) {
  return Contains(name, "nvvm") && Contains(name, "libdevice");
}

NvvmVectorPolicy PolicyOf(const LinkOptions& options) {
  return options.compatibility == Compatibility::kNvlink ? NvvmVectorPolicy::Nvlink()
                                                         : NvvmVectorPolicy{};
}

LtoLinkShape ShapeOf(const LinkOptions& options, bool has_other_code, bool has_runtime) {
  return {.relocatable_link = options.relocatable,
          .force_partial = options.lto.force_partial,
          .force_whole = options.lto.force_whole,
          .has_other_code = has_other_code,
          .has_device_runtime = has_runtime};
}

// Pieces share a place.
struct Placed {
  std::pair<std::size_t, std::size_t> place;
  LinkInput input;
};

}  // namespace

// nvlink opens an archive of the device runtime only if a host object came before it.
bool LinkSession::State::SeesRuntime(const DeviceBlob& blob) const {
  return !blob.from_archive || !lto.last_host_object.empty();
}

void LinkSession::State::MeetHostObject(const DeviceBlob& blob) {
  const bool seen = !blob.is_cudadevrt || SeesRuntime(blob);
  lto.references.push_back({blob.references, blob.is_cudadevrt, seen});
  if (!seen) return;
  lto.last_host_object = blob.name;
  lto.object_after_runtime |= !lto.runtime.empty() && !blob.is_cudadevrt;
}

absl::Status LinkSession::State::TakeLtoIr(const DeviceBlob& blob, FoundCode&& code) {
  LtoInput module{.name = blob.name,
                  .bytes = std::move(code.bytes),
                  .is_protected = code.is_protected,
                  .member_options = std::move(code.options)};
  if (blob.is_cudadevrt && blob.from_archive && Contains(blob.name, "libcudadevrt")) {
    module.name = "libcudadevrt";
    lto.runtime_modules.push_back(std::move(module));
    return absl::OkStatus();
  }
  lto.last_place = next_place++;
  if (blob.from_host_object) {
    lto.place = lto.last_place;
    set.references.push_back(blob.references);
  }
  lto.worth_compiling |= !IsLibdevice(blob.name);
  lto.modules.push_back(std::move(module));
  return absl::OkStatus();
}

absl::Status LinkSession::State::HoldRuntime(const DeviceBlob& blob, FoundCode&& code) {
  if (code.kind != CodeKind::kSass) {
    return Refuse(internal::MakeAssemblyError(
                      blob.name, base::Cat({"'", blob.name, "' has no cubin for this target"})),
                  absl::StatusCode::kUnimplemented);
  }
  const bool seen =
      blob.from_host_object ? lto.references.back().seen_by_nvlink : SeesRuntime(blob);
  if (!seen && options.compatibility == Compatibility::kNvlink) return absl::OkStatus();
  lto.runtime.push_back({.place = next_place++,
                         .name = blob.name,
                         .cubin = std::move(code.bytes),
                         .references = blob.references,
                         .seen_by_nvlink = seen});
  return absl::OkStatus();
}

// Said of PTX when it is assembled, and of what comes behind PTX after that.
absl::Status LinkSession::State::SayWithoutLto(const std::string& name) {
  if (!options.lto.enabled) return absl::OkStatus();
  DEVLINK_RETURN_IF_ERROR(AssemblePending());
  lto.partial = true;
  if (lto.last_without == name) return absl::OkStatus();  // several sections of one object
  lto.last_without = name;
  Say(format::MakeDiagnostic(
      Severity::kInfo, DiagnosticCode::kUsage, name,
      base::Cat({"requested LTO but '", name, "' not built for LTO so doing partial LTO"})));
  return absl::OkStatus();
}

absl::Status LinkSession::State::OpenLtoCompiler() {
  LtoBackendOptions backend = options.lto.backend;
  const auto is_protected = [](const LtoInput& module) { return module.is_protected; };
  backend.needs_protected =
      std::any_of(lto.modules.begin(), lto.modules.end(), is_protected) ||
      std::any_of(lto.runtime_modules.begin(), lto.runtime_modules.end(), is_protected);
  // Since an earlier link there may be protected modules.
  const bool fits = lto.compiler_is_for_protected || !backend.needs_protected;
  if (lto_compiler != nullptr && fits) return absl::OkStatus();
  lto.compiler_is_for_protected = backend.needs_protected;
  // nvlink knows libNVVM only.
  if (options.compatibility == Compatibility::kNvlink &&
      backend.backend == LtoBackend::kAutomatic && !backend.needs_protected) {
    backend.backend = LtoBackend::kNvvm;
  }
  const auto keep = [this](auto result) -> absl::Status {
    if (!result.ok()) return result.status();
    lto_compiler = *std::move(result);
    return absl::OkStatus();
  };
  absl::Status made = options.cache != nullptr
                          ? keep(CreateCachingLtoCompiler(backend, options.cache))
                          : keep(CreateLtoCompiler(backend));
  if (made.ok()) return absl::OkStatus();
  Say(internal::LtoFatal(internal::kLibraryFailed, base::FromAbsl(made.message())));
  return made;
}

// The modules and the words for them; what the modules cannot agree on ends the attempt.
absl::Status LinkSession::State::PrepareLto(const LtoChoices& choices, CiccOptionBuilder& builder,
                                            LtoJob& job, std::vector<Diagnostic>& found) const {
  job.target = options.target;
  OptionConsensus consensus;
  for (const auto* list : {&lto.modules, &lto.runtime_modules}) {
    for (const LtoInput& module : *list) {
      job.modules.push_back({module.name, module.bytes, module.is_protected});
      if (module.member_options) consensus.Vote(module.name, *module.member_options);
    }
  }
  DEVLINK_ASSIGN_OR_RETURN(const AgreedOptions agreed,
                           consensus.Resolve({.max_registers = options.max_registers}, &found));
  builder.Agreed(agreed)
      .Scope(ScopeOf(ShapeOf(options, lto.partial, choices.with_runtime)))
      .KeepArchSuffix(choices.keep_arch_suffix)
      .Debug(options.debug && !options.suppress_debug_info)
      .EmitPtx(options.lto.emit_ptx)
      .MaxRegisters(options.max_registers)
      .SplitCompile(options.split_compile)
      .SplitCompileExtended(options.lto.split_compile_extended)
      .FastCompileLevel(options.lto.fast_compile)
      .IgnoreHostInfo(options.host_info == HostInfo::kIgnore)
      .KernelsUsed(options.kernels_used)
      .VariablesUsed(options.variables_used);
  for (const std::string& words : options.lto.xnvvm) builder.Xnvvm(words);
  for (const LtoHostInput& input : lto.references) {
    if (!input.seen_by_nvlink && !choices.with_runtime) continue;
    builder.AddHostReferences(input.references, input.is_device_runtime);
  }
  DEVLINK_ASSIGN_OR_RETURN(job.arguments, builder.Build(&found));
  if (options.compatibility == Compatibility::kNvlink) return absl::OkStatus();
  // libNVVM passes over a knob that it does not know, and ends the process for some words.
  std::vector<std::string> others;
  absl::Status knobs =
      NvvmPassOptions::Parse(job.arguments, NvvmGenerationOf(options.target), &others).status();
  if (!knobs.ok()) {
    found.push_back(
        internal::LtoFatal(internal::kCompilationFailed, base::FromAbsl(knobs.message())));
  }
  return knobs;
}

absl::Status LinkSession::State::AssembleLto(const CiccOptionBuilder& how, LtoAttempt& out) {
  DEVLINK_RETURN_IF_ERROR(OpenAssembler(kResultName));
  DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::string> arguments,
                           internal::AssemblerOptions(options, how.AssemblerTarget())
                               .LinkTimeOptimized(true)
                               .Relocatable(!out.is_whole_program)
                               .MaxRegisters(how.MaxRegistersInForce())
                               .SplitCompile(how.Split().assembler)
                               .Build(&out.diagnostics));
  std::vector<PtxJob> jobs;
  jobs.reserve(out.pieces.size());
  for (const std::string& piece : out.pieces) {
    jobs.push_back({.name = kResultName, .text = piece, .arguments = arguments});
  }
  for (PtxResult& result : AssembleAll(*assembler, jobs, options.ptx_parallel, progress)) {
    DEVLINK_RETURN_IF_ERROR(internal::TakeAssemblerLines(
        kResultName, "the PTX is what became of the LTO IR", result, out.diagnostics));
    out.cubins.push_back(std::move(result.cubin));
  }
  return absl::OkStatus();
}

LtoAttempt LinkSession::State::TryLto(const LtoChoices& choices) {
  LtoAttempt out;
  CiccOptionBuilder builder(options.target, PolicyOf(options));
  LtoJob job;
  out.status = PrepareLto(choices, builder, job, out.diagnostics);
  if (!out.status.ok()) return out;
  out.suffix_may_help = builder.NeedsSecondAttempt();
  Log(absl::StrCat("compiling ", job.modules.size(), " LTO modules with ",
                   base::ToAbsl(lto_compiler->name()), ": ", absl::StrJoin(job.arguments, " ")));
  Report(LinkPhase::kLtoCompile, 0, 1);
  LtoOutput output = lto_compiler->Compile(job);
  Report(LinkPhase::kLtoCompile, 1, 1);
  std::move(output.diagnostics.begin(), output.diagnostics.end(),
            std::back_inserter(out.diagnostics));
  out.status = std::move(output.status);
  if (!out.status.ok()) return out;
  out.is_whole_program =
      ResultIsWholeProgram(ShapeOf(options, lto.partial, choices.with_runtime),
                           output.whole_program ? kNvvmWholeProgram : kNvvmSuccess,
                           static_cast<int>(output.pieces.size()));
  out.pieces = std::move(output.pieces);
  if (!options.lto.emit_ptx) out.status = AssembleLto(builder, out);
  return out;
}

// Tries what nvlink does; where that loses or fails a link that could succeed, once more with what
// nvlink leaves out: a device runtime that no host object precedes, the suffix of sm_90a.
absl::StatusOr<LtoAttempt> LinkSession::State::CompileLto() {
  DEVLINK_RETURN_IF_ERROR(OpenLtoCompiler());
  LtoChoices choices;
  choices.with_runtime = std::any_of(lto.runtime.begin(), lto.runtime.end(),
                                     [](const HeldRuntime& held) { return held.seen_by_nvlink; });
  LtoAttempt attempt = TryLto(choices);
  const bool may_improve = options.compatibility == Compatibility::kDevlink;
  const bool calls_runtime = attempt.is_whole_program && !attempt.pieces.empty() &&
                             Contains(attempt.pieces.front(), kRuntimePrefix);
  if (may_improve && !choices.with_runtime && !lto.runtime.empty() && calls_runtime) {
    Log("the program calls the device runtime: compiling again");
    choices.with_runtime = true;
    attempt = TryLto(choices);
  }
  if (!attempt.status.ok() && attempt.suffix_may_help) {
    Log("perhaps the code is for one architecture only: compiling again");
    choices.keep_arch_suffix = true;
    if (LtoAttempt second = TryLto(choices); second.status.ok()) attempt = std::move(second);
  }
  for (Diagnostic& diagnostic : attempt.diagnostics) Say(std::move(diagnostic));
  if (!attempt.status.ok()) return attempt.status;
  return attempt;
}

// Nothing was LTO IR: nvlink warns, and the link is one without LTO.
absl::Status LinkSession::State::WarnOfNoLto() {
  constexpr const char* kText = "Ignoring -dlto option because no LTO objects found";
  Say(format::MakeDiagnostic(options.warnings_are_errors ? Severity::kError : Severity::kWarning,
                             DiagnosticCode::kUsage, "", kText));
  if (!options.warnings_are_errors) return absl::OkStatus();
  Say(format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMergeFailed, "",
                             "merge_elf failed"));
  return absl::FailedPreconditionError(kText);
}

absl::StatusOr<ModuleRef> LinkSession::State::LoadRuntime(const HeldRuntime& held) {
  auto module = pool->AddCubin(held.cubin);
  if (!module.ok()) {
    return Refuse(
        internal::DescribeMalformed(held.name, held.cubin, held.cubin.size(), module.status()),
        absl::StatusCode::kInvalidArgument);
  }
  if (auto obstacle = internal::FindObstacle(held.name, **module, options)) {
    return Refuse(*std::move(obstacle), absl::StatusCode::kFailedPrecondition);
  }
  return module;
}

// What is linked afterwards: the inputs that were given, and among them the result. Pieces go to
// the front. nvlink has no place for the result of IR that came in no host object, and loses it.
// The device runtime comes in only where something is undefined without it.
absl::StatusOr<LinkSession::State::LinkSet> LinkSession::State::PlaceLto(
    std::vector<std::vector<std::uint8_t>> cubins) {
  const bool is_split = cubins.size() > 1;
  if (!is_split && !lto.place && options.compatibility == Compatibility::kNvlink) cubins.clear();
  const std::size_t place = is_split ? 0 : lto.place.value_or(lto.last_place);
  LinkSet all = set;
  all.references_known_before =
      lto.worth_compiling && ScopeOf(ShapeOf(options, lto.partial, false)) != LtoScope::kPartial;
  std::vector<Placed> placed;
  for (std::vector<std::uint8_t>& cubin : cubins) {
    DEVLINK_ASSIGN_OR_RETURN(ModuleRef module, pool->AddCubin(std::move(cubin)));
    all.inputs.push_back({kResultName, module});
    placed.push_back({{place, placed.size()}, {kResultName, std::move(module)}});
  }
  const bool needs_runtime = options.keep_system_libraries || AnythingUndefined(all.inputs);
  lto.runtime_left_out = !lto.runtime.empty() && !needs_runtime;
  dropped_cudadevrt = lto.runtime_left_out;
  // One that says nothing of its host code counts all the same.
  for (const LtoHostInput& input : lto.references) {
    const bool is_silent = !input.references.kernels_external.present;
    if (input.is_device_runtime && input.seen_by_nvlink && is_silent) {
      all.references.push_back(input.references);
    }
  }
  for (std::size_t i = 0; needs_runtime && i < lto.runtime.size(); ++i) {
    const HeldRuntime& held = lto.runtime[i];
    DEVLINK_ASSIGN_OR_RETURN(ModuleRef module, LoadRuntime(held));
    placed.push_back({{held.place, 0}, {held.name, std::move(module)}});
    all.references.push_back(held.references);
  }
  for (std::size_t i = 0; i < set.inputs.size(); ++i)
    placed.push_back({{places[i], 0}, set.inputs[i]});
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.place < b.place; });
  all.inputs.clear();
  for (Placed& input : placed) all.inputs.push_back(std::move(input.input));
  return all;
}

// nvlink writes the whole program and then fails, unless the last host object is the device
// runtime.
void LinkSession::State::SayRuntimeExpected() {
  if (options.compatibility != Compatibility::kNvlink || lto.last_host_object.empty() ||
      Contains(lto.last_host_object, "cudadevrt")) {
    return;
  }
  Say(format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUsage, lto.last_host_object,
                             "expected libcudadevrt object"));
}

// The same where the result is linked: nvlink wants no host object behind the device runtime.
absl::Status LinkSession::State::CheckRuntimeIsLast() {
  if (options.compatibility != Compatibility::kNvlink || !lto.object_after_runtime) {
    return absl::OkStatus();
  }
  return Refuse(format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUsage,
                                       lto.last_host_object, "unexpected object after cudadevrt"),
                absl::StatusCode::kFailedPrecondition);
}

absl::StatusOr<LinkResult> LinkSession::State::LinkWithLto(OutputSink* output) {
  LtoAttempt made;
  lto.whole_program = false;
  if (!lto.worth_compiling) {
    DEVLINK_RETURN_IF_ERROR(WarnOfNoLto());
  } else {
    DEVLINK_ASSIGN_OR_RETURN(made, CompileLto());
    LinkResult result;
    if (options.lto.emit_ptx) {
      for (const std::string& piece : made.pieces) result.ptx += piece;
      result.report.output_bytes = result.ptx.size();
      return result;
    }
    if (made.is_whole_program) {
      lto.whole_program = true;
      lto.runtime_left_out = true;
      SayRuntimeExpected();
      result.cubin = std::move(made.cubins.front());
      result.report.output_bytes = result.cubin.size();
      if (output == nullptr) return result;
      DEVLINK_RETURN_IF_ERROR(output->Begin(result.cubin.size()));
      DEVLINK_RETURN_IF_ERROR(output->Append(result.cubin));
      base::Release(result.cubin);
      return result;
    }
  }
  if (made.cubins.size() == 1) DEVLINK_RETURN_IF_ERROR(CheckRuntimeIsLast());
  DEVLINK_ASSIGN_OR_RETURN(const LinkSet all, PlaceLto(std::move(made.cubins)));
  return LinkAll(all, output);
}

}  // namespace devlink
