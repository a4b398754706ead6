// SPDX-License-Identifier: Apache-2.0
#include "session/finalize_step.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "finalize/adopt.h"
#include "finalize/agreement.h"
#include "finalize/own_records.h"
#include "finalize/reduced_input.h"
#include "finalize/stand_in_names.h"
#include "finalize/telling_texts.h"
#include "format/make_diagnostic.h"
#include "format/notes.h"
#include "link/liveness.h"
#include "model/module.h"
#include "plan/settings.h"
#include "session/refusals.h"

namespace devlink::internal {

namespace {

absl::Status Fail(const absl::Status& status, std::string_view what,
                  std::vector<Diagnostic>& diagnostics) {
  diagnostics.push_back(
      format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUnsupportedFeature, "",
                             std::string(what), std::string(base::FromAbsl(status.message()))));
  return status;
}

// The code is as the assembler made it, and why; an error where the options insist on the
// finalizer.
absl::Status GoWithout(std::string_view what, const absl::Status& why, const LinkOptions& options,
                       std::vector<Diagnostic>& diagnostics) {
  if (options.finalize == FinalizeMode::kAlways) return Fail(why, what, diagnostics);
  Diagnostic& note = diagnostics.emplace_back();
  note.severity = Severity::kInfo;
  note.code = DiagnosticCode::kUnsupportedFeature;
  note.notes.push_back(base::Cat(
      {what, ", so the code is as the assembler made it: ", base::FromAbsl(why.message())}));
  return absl::OkStatus();
}

// Other names for those of `others` that have one of the texts somewhere.
absl::StatusOr<StandInNames> HideFrom(std::span<const std::string> texts,
                                      std::span<const std::string_view> kept,
                                      std::span<const std::string_view> others) {
  const TextsWithin wanted(texts);
  std::vector<std::string_view> alike;
  for (const std::string_view name : others) {
    if (!wanted.FirstIn(name).empty()) alike.push_back(name);
  }
  auto out = StandInNames::For(alike);
  const bool can = out && std::none_of(kept.begin(), kept.end(),
                                       [&](std::string_view name) { return out->Changes(name); });
  if (can) return *std::move(out);
  return absl::UnimplementedError(base::ToAbsl(base::Cat(
      {"kernel '", alike.front(), "' is not asked for, and its name holds that of '",
       wanted.FirstIn(alike.front()),
       "', which is: the finalizer cannot tell them apart; link with -ignore-host-info"})));
}

// Says what stays of the kernels that host code chooses, in texts of -kernels-used, and of what
// else has these texts in its name that it is called otherwise.
absl::Status ChooseKernels(const FinalizedProgram& linked, const KernelSelection& kernels,
                           FinalizeJob& job, StandInNames& hidden) {
  const Program& program = linked.program;
  const auto name_of = [&](FunctionId kernel) -> std::string_view {
    return program.symbols[program.functions[kernel].symbol].name;
  };
  std::vector<std::string_view> kept;
  std::vector<std::string_view> others;
  for (const FunctionId kernel : linked.liveness.kernels) {
    // Also where only device code uses it, unless nvlink leaves kernels out as they are met: then
    // such a kernel comes back later, and its names with it, but not always what it calls.
    const Symbol& symbol = program.symbols[program.functions[kernel].symbol];
    const bool told =
        kernels.ByHostReferences() || linked.liveness.keeps_lost || kernels.Wants(symbol);
    (told ? kept : others).push_back(symbol.name);
  }
  for (const FunctionId kernel : linked.liveness.left_out) others.push_back(name_of(kernel));
  job.kernels_used = TellingTexts(kept, others);
  // With a text that no name has, none stays.
  if (job.kernels_used.empty()) job.variables_used.emplace_back("?");
  DEVLINK_ASSIGN_OR_RETURN(hidden, HideFrom(job.kernels_used, kept, others));
  return absl::OkStatus();
}

// What changes the program, and NVIDIA's library cannot be told. Empty where there is nothing.
std::string_view OptionUnknownToFinalizer(const LinkOptions& options) {
  if (options.allow_undefined_globals) return "-allow-undefined-globals";
  if (options.reserve_null_pointer) return "-reserve-null-pointer";
  if (options.disable_shared_reservation) return "-disable-smem-reservation";
  if (options.host_section) return "-nv-host";
  if (options.preserve_relocations) return "-preserve-relocs";
  if (!options.kept_functions.empty()) return "--undefined";
  return {};
}

absl::Status MakeJob(const LinkSet& set, const FinalizedProgram& linked, const LinkOptions& options,
                     FinalizeJob& job, StandInNames& hidden) {
  if (const std::string_view unknown = OptionUnknownToFinalizer(options); !unknown.empty()) {
    return absl::UnimplementedError(base::ToAbsl(base::Cat({"the finalizer knows no ", unknown})));
  }
  if (!linked.program.remembered_addresses.empty()) {
    return absl::UnimplementedError(
        "the finalizer forgets functions to which only variables point; --compat=nvlink, too");
  }
  if (const SecondCopyPointers& pointers = linked.program.second_copy_pointers;
      pointers.count > 0 && !pointers.stay_null) {
    return absl::UnimplementedError(
        "the finalizer leaves pointers in constants null; --compat=nvlink, too");
  }
  if (!linked.liveness.behind_pointers.empty() && !linked.liveness.loses_behind_pointers) {
    return absl::UnimplementedError(
        "the finalizer leaves out what only pointers lead to; --compat=nvlink, too");
  }
  for (const LinkInput& input : set.inputs) {
    job.inputs.push_back({input.name, input.module->bytes()});
  }
  if (options.debug) return absl::OkStatus();  // every kernel stays
  job.variables_used = options.variables_used;
  if (NamesWhatIsUsed(options) && !linked.liveness.keeps_lost) {
    job.kernels_used = options.kernels_used;
    return absl::OkStatus();
  }
  const KernelSelection kernels =
      SelectKernels(options, set.references, set.references_known_before);
  if (!kernels.LeavesOut() || options.relocatable) return absl::OkStatus();
  // Told one kernel it has another order than nvlink, told others it keeps what nvlink loses.
  if (kernels.ByHostReferences() && !linked.liveness.unfollowed.empty() && linked.code_is_fit &&
      options.finalize != FinalizeMode::kAlways) {
    return absl::UnimplementedError("the finalizer cannot be told what nvlink loses");
  }
  return ChooseKernels(linked, kernels, job, hidden);
}

}  // namespace

namespace {

using Bytes = std::vector<std::uint8_t>;

// Code that goes without a trace: sections of a name of which none stays.
CodeNames CodeLeftOut(const LinkSet& set, const FinalizedProgram& linked) {
  const Program& program = linked.program;
  const Liveness& liveness = linked.liveness;
  CodeNames out;
  const auto is_code = [&](SectionId id) {
    return program.sections[id].kind == SectionKind::kText;
  };
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (is_code(id) && liveness.section_removed[id]) out.insert(program.sections[id].name);
  }
  if (out.empty()) return out;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (is_code(id) && !liveness.section_removed[id]) out.erase(program.sections[id].name);
  }
  for (const LinkInput& input : set.inputs) KeepTraces(*input.module, out);
  return out;
}

// The job, while some kernels that go are called otherwise.
absl::StatusOr<Finalized> FinalizeHiding(const StandInNames& hidden,
                                         const MercuryFinalizer& finalizer, FinalizeJob job) {
  if (hidden.empty()) return finalizer.Finalize(job);
  std::vector<Bytes> renamed;  // which the job borrows
  renamed.reserve(job.inputs.size());
  for (FinalizeInput& input : job.inputs) {
    DEVLINK_ASSIGN_OR_RETURN(Bytes bytes, hidden.Hide(input.bytes));
    input.bytes = renamed.emplace_back(std::move(bytes));
  }
  DEVLINK_ASSIGN_OR_RETURN(Finalized made, finalizer.Finalize(job));
  DEVLINK_ASSIGN_OR_RETURN(made.cubin, hidden.Restore(std::move(made.cubin)));
  return made;
}

// The same job with what stays only, which takes a fraction of the time where libraries are linked.
// Nothing where nothing goes, or where it did not come out right: then the whole inputs have to do.
absl::StatusOr<std::optional<Finalized>> FinalizeReduced(
    const LinkSet& set, const CodeNames& left_out, const StandInNames& hidden,
    const LinkContext& context, const MercuryFinalizer& finalizer, FinalizeJob job) {
  std::vector<Bytes> reduced;  // which the job borrows
  reduced.reserve(set.inputs.size());
  for (std::size_t i = 0; i < set.inputs.size(); ++i) {
    auto without = WithoutCode(*set.inputs[i].module, left_out);
    if (without) job.inputs[i].bytes = reduced.emplace_back(*std::move(without));
  }
  if (reduced.empty()) return std::nullopt;
  auto made = FinalizeHiding(hidden, finalizer, std::move(job));
  if (absl::IsCancelled(made.status()) || absl::IsDeadlineExceeded(made.status())) {
    return made.status();
  }
  if (made.ok() && !HasCode(made->cubin, left_out)) {
    context.Log([&] {
      return absl::StrCat("the finalizer did without ", left_out.size(), " functions that go");
    });
    return *std::move(made);
  }
  context.Log([&] {
    return absl::StrCat("the finalizer gets all code, for without ", left_out.size(),
                        " functions that go it failed: ",
                        made.ok() ? "they were in its file" : made.status().message());
  });
  return std::nullopt;
}

absl::StatusOr<Bytes> Finalize(const LinkSet& set, const FinalizedProgram& program,
                               const LinkOptions& options, const LinkContext& context,
                               const MercuryFinalizer& finalizer, std::string_view& what) {
  const TimeSpan span(context.time_trace, "finalize");
  FinalizeJob job{.target = options.target,
                  .release = options.profile.release,
                  .debug = options.debug && !options.suppress_debug_info,
                  .relocatable = options.relocatable,
                  .stop = context.environment.StopToken()};
  what = "the finalizer cannot be used";
  StandInNames hidden;
  DEVLINK_RETURN_IF_ERROR(MakeJob(set, program, options, job, hidden));
  what = "the finalizer failed";
  const CodeNames left_out = CodeLeftOut(set, program);
  DEVLINK_ASSIGN_OR_RETURN(auto made,
                           FinalizeReduced(set, left_out, hidden, context, finalizer, job));
  if (!made) {
    DEVLINK_ASSIGN_OR_RETURN(made, FinalizeHiding(hidden, finalizer, std::move(job)));
  }
  context.Keep({.stage = LinkStage::kFinalized, .name = finalizer.name(), .bytes = made->cubin});
  const std::vector<std::uint8_t> record = format::EncodeOwnRecord(
      options.profile, options.recorded_object, options.recorded_options, options.recorded_tool);
  what = "what the finalizer made cannot be taken over";
  DEVLINK_ASSIGN_OR_RETURN(Bytes adopted, Adopt(made->cubin, record));
  context.Log([&] {
    return absl::StrCat("took over ", adopted.size(), " bytes of ", base::ToAbsl(finalizer.name()));
  });
  return adopted;
}

absl::StatusOr<JudgedFile> TakeOwn(const Bytes& own, const absl::Status& why,
                                   const LinkOptions& options,
                                   std::vector<Diagnostic>& diagnostics) {
  DEVLINK_RETURN_IF_ERROR(
      GoWithout("the finalizer made another program", why, options, diagnostics));
  return JudgedFile{.cubin = own, .is_own = true};
}

}  // namespace

absl::StatusOr<std::optional<Bytes>> FinalizeLink(const LinkSet& set,
                                                  const FinalizedProgram& program,
                                                  const LinkOptions& options,
                                                  const LinkContext& context,
                                                  std::vector<Diagnostic>& diagnostics) {
  if (options.finalize == FinalizeMode::kNever) return std::nullopt;
  if (options.relocatable && KeepsReferences(options)) return std::nullopt;
  const auto finalizer = context.toolchain.Finalizer();
  if (!finalizer.ok()) {
    if (options.finalize != FinalizeMode::kAlways) return std::nullopt;
    return Fail(absl::UnimplementedError(finalizer.status().message()),
                base::Cat({"a link for '", options.target.Name(),
                           "' needs NVIDIA's finalizer, which is part of libnvJitLink"}),
                diagnostics);
  }
  std::string_view what;
  auto made = Finalize(set, program, options, context, **finalizer, what);
  if (made.ok()) return *std::move(made);
  if (absl::IsCancelled(made.status())) return made.status();
  DEVLINK_RETURN_IF_ERROR(GoWithout(what, made.status(), options, diagnostics));
  return std::nullopt;
}

absl::StatusOr<JudgedFile> JudgeFinalized(FileToJudge files, const LinkOptions& options,
                                          const LinkContext& context,
                                          std::vector<Diagnostic>& diagnostics) {
  JudgedFile out{.cubin = std::move(files.finalized)};
  // Want of memory and a stop must not decide which file is written, and of damage none is made;
  // what cannot be composed cannot be compared.
  if (absl::IsCancelled(files.own.status())) return files.own.status();
  if (absl::IsInvalidArgument(files.own.status()) &&
      options.compatibility != Compatibility::kNvlink) {
    return ReportUnwritable(files.own.status(), options.target, diagnostics);
  }
  if (absl::IsResourceExhausted(files.own.status())) {
    return Fail(files.own.status(), "what the finalizer made cannot be compared", diagnostics);
  }
  const absl::Status unfit = absl::UnimplementedError("the code is for another architecture");
  // What nvlink does with -suppress-debug-info the finalizer could not be told.
  const bool told_less = options.suppress_debug_info;
  auto agreement = !files.own.ok()    ? files.own.status()
                   : files.own_is_fit ? CompareWithOwn(out.cubin, *files.own)
                                      : unfit;
  if (!agreement.ok()) {
    context.Log([&] {
      return absl::StrCat("the finalizer's file was compared with none: ",
                          agreement.status().message());
    });
    if (!files.own.ok()) return out;
  } else if (agreement->difference.empty()) {
    out.finalized = std::move(agreement->finalized);
  } else if (told_less || options.compatibility != Compatibility::kNvlink) {
    return TakeOwn(*files.own,
                   absl::InternalError(base::ToAbsl(
                       base::Cat({agreement->difference, " is not as this link has it"}))),
                   options, diagnostics);
  }
  if (!files.told_others) return out;
  auto joined = WithOwnRecords(out.cubin, *files.own);
  if (joined.ok()) {
    out.cubin = *std::move(joined);
  } else if (told_less && files.own_is_fit) {
    return TakeOwn(*files.own, joined.status(), options, diagnostics);
  } else {
    // What does not come of the inputs must not decide what the file is.
    context.Log([&] {
      return absl::StrCat("attributes stay as the finalizer has them: ", joined.status().message());
    });
  }
  return out;
}

}  // namespace devlink::internal
