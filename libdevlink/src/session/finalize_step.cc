// SPDX-License-Identifier: Apache-2.0
#include "session/finalize_step.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/workers.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "finalize/adopt.h"
#include "finalize/join_parts.h"
#include "finalize/needed_code.h"
#include "finalize/reduced_input.h"
#include "finalize/stand_in_names.h"
#include "finalize/telling_texts.h"
#include "format/notes.h"
#include "format/sections.h"
#include "link/code_parts.h"
#include "link/liveness.h"
#include "link/texture_layout.h"
#include "model/module.h"
#include "plan/settings.h"

namespace devlink::internal {

namespace {

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

// What changes the program, and no finalizer can be told, or makes something of that is another
// thing in every run (docs/compatibility.md). Empty where there is nothing.
std::string_view OptionUnknownToFinalizer(const LinkOptions& options) {
  if (options.host_section) return "-nv-host";
  if (options.preserve_relocations) return "-preserve-relocs";
  if (!options.kept_functions.empty()) return "--undefined";
  return {};
}

// What nvlink can be told, and libnvJitLink cannot.
std::vector<std::string> OptionsOfNvlink(const LinkOptions& options) {
  std::vector<std::string> out;
  if (options.allow_undefined_globals) out.emplace_back("-allow-undefined-globals");
  if (options.reserve_null_pointer) out.emplace_back("-reserve-null-pointer");
  if (options.disable_shared_reservation) out.emplace_back("-disable-smem-reservation=true");
  return out;
}

// An alias that nothing uses, of a function that stays: nvlink ends with an internal error, and its
// library crashes.
std::optional<FunctionId> UnusedAlias(const FinalizedProgram& linked, const LinkOptions& options) {
  if (options.debug || options.relocatable) return std::nullopt;  // all stay
  const std::vector<Function>& functions = linked.program.functions;
  for (FunctionId f = 0; f < functions.size(); ++f) {
    const FunctionId real = functions[f].alias_of;
    if (real != kNone && !linked.liveness.live[f] && linked.liveness.live[real]) return f;
  }
  return std::nullopt;
}

// Static functions of one name that have constants, in one file, as -r leaves them: nvlink crashes
// over what devlink makes so, as it does over what it has made itself.
absl::Status CheckNamesOfConstants(const LinkSet& set) {
  base::HashSet<std::string_view> names;
  for (const LinkInput& input : set.inputs) {
    if (!input.module->HasView(format::ViewKind::kMercury)) continue;
    names.clear();
    for (const InputSection& section : input.module->view(format::ViewKind::kMercury).sections()) {
      const bool is_of_code =
          section.role == SectionRole::kFunctionConstants && !section.IsParameterBank();
      if (!is_of_code || names.insert(section.name).second) continue;
      return absl::UnimplementedError(
          base::ToAbsl(base::Cat({"the finalizer crashes over two sections '", section.name,
                                  "' in '", input.name, "', of static functions of one name"})));
    }
  }
  return absl::OkStatus();
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
  if (const auto alias = UnusedAlias(linked, options)) {
    const Program& program = linked.program;
    const FunctionId real = program.functions[*alias].alias_of;
    const auto name_of = [&](FunctionId f) {
      return program.symbols[program.functions[f].symbol].name;
    };
    return absl::UnimplementedError(
        base::ToAbsl(base::Cat({"the finalizer crashes where nothing uses '", name_of(*alias),
                                "', another name of '", name_of(real), "', which stays"})));
  }
  DEVLINK_RETURN_IF_ERROR(CheckNamesOfConstants(set));
  for (const LinkInput& input : set.inputs) {
    job.inputs.push_back({input.name, input.module->bytes()});
  }
  if (options.debug) return absl::OkStatus();  // every kernel stays
  job.variables_used = options.variables_used;
  if (NamesWhatIsUsed(options) && !linked.liveness.keeps_lost) {
    job.kernels_used = options.kernels_used;
    return absl::OkStatus();
  }
  const KernelSelection& kernels = linked.kernels;
  if (!kernels.LeavesOut() || options.relocatable) return absl::OkStatus();
  // Told one kernel it has another order than nvlink, told others it keeps what nvlink loses.
  if (kernels.ByHostReferences() && !linked.liveness.unfollowed.empty() && linked.code_is_fit &&
      options.finalize != FinalizeMode::kAlways) {
    return absl::UnimplementedError("the finalizer cannot be told what nvlink loses");
  }
  return ChooseKernels(linked, kernels, job, hidden);
}

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

// The job's inputs, as `reduce` makes them from modules: those of which something went. The job
// borrows them.
std::vector<Bytes> TakeOut(const LinkSet& set, FinalizeJob& job,
                           absl::FunctionRef<std::optional<Bytes>(const Module&)> reduce) {
  std::vector<Bytes> reduced;
  reduced.reserve(set.inputs.size());
  for (std::size_t i = 0; i < set.inputs.size(); ++i) {
    auto without = reduce(*set.inputs[i].module);
    if (without) job.inputs[i].bytes = reduced.emplace_back(*std::move(without));
  }
  return reduced;
}

// The same job with what stays only, which takes a fraction of the time where libraries are linked.
// Nothing where nothing goes, or where it did not come out right: then the whole inputs have to do.
absl::StatusOr<std::optional<Finalized>> FinalizeReduced(
    const LinkSet& set, const CodeNames& left_out, const StandInNames& hidden,
    const LinkContext& context, const MercuryFinalizer& finalizer, FinalizeJob job) {
  const std::vector<Bytes> reduced =
      TakeOut(set, job, [&](const Module& module) { return WithoutCode(module, left_out); });
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

// Whether the finalizer was told of kernels other than nvlink is: those that host code leaves out,
// or that device code keeps beside what host code or -kernels-used asks for; where all code stays,
// nothing of those that nvlink does not follow.
bool ToldOtherKernels(const FinalizedProgram& linked, const LinkOptions& options) {
  const Liveness& liveness = linked.liveness;
  if (options.debug) return !liveness.unfollowed.empty();
  if (!linked.kernels.ByHostReferences()) return liveness.keeps_lost;
  const auto is_wanted = [&](FunctionId kernel) {
    return linked.kernels.Wants(linked.program.symbols[linked.program.functions[kernel].symbol]);
  };
  return !liveness.left_out.empty() ||
         !std::all_of(liveness.kernels.begin(), liveness.kernels.end(), is_wanted);
}

// All that the program decides about the finalizer's work; it borrows from the inputs.
struct Plan {
  FinalizeJob job;
  StandInNames hidden;
  CodeNames left_out;
  std::vector<CodePart> parts;      // empty: the whole at once
  CodeNames code;                   // then all that the program has, what goes among it
  std::optional<NeededCode> needs;  // then what each of them has to have of the others
  bool told_others = false;
  std::shared_ptr<const base::StringArena> names;  // of code that no input has
};

// Whether our own file can be nvlink's but for the code: else the finalizer's whole file is taken
// (docs/mercury.md, "In parts").
bool CanTakeParts(const Program& program) {
  // Of what nvlink leaves in the Mercury view's copy of reserved memory the first bytes are known.
  constexpr std::uint64_t kKnownOfReserved = 64;
  const auto is_hindrance = [](const Section& section) {
    return (section.kind == SectionKind::kReservedShared && section.size > kKnownOfReserved) ||
           (section.kind == SectionKind::kDebug && !format::ComesWithoutDebug(section.name));
  };
  return std::none_of(program.sections.begin(), program.sections.end(), is_hindrance) &&
         !RefersToTextures(program);
}

// How many parts are worth their processes, each of which reads all that has to be in all of them.
// It must not depend on the machine: the file is to be the same on any other. Powers of two, so
// that none is left over where there are two processors or four. One where the code that stays is
// little, but much goes that the finalizer would read; 0, the whole at once, where neither is won.
std::size_t WantedParts(const LinkSet& set, const FinalizedProgram& linked,
                        const LinkOptions& options, const MercuryFinalizer& finalizer) {
  constexpr std::uint64_t kWorthTwo = std::uint64_t{512} << 10;
  constexpr std::uint64_t kWorthFour = std::uint64_t{4} << 20;
  constexpr std::uint64_t kWorthEight = std::uint64_t{16} << 20;
  constexpr std::uint64_t kLeastMean = std::uint64_t{1} << 10;  // of a function
  constexpr std::uint64_t kMeanOfMore = std::uint64_t{4} << 10;
  constexpr std::uint64_t kWorthLeavingOut = std::uint64_t{256} << 10;
  const bool is_plain = linked.code_is_fit && !options.relocatable && !options.debug &&
                        options.variables_used.empty() && OptionsOfNvlink(options).empty() &&
                        options.compatibility != Compatibility::kNvlink;
  if (!is_plain || !CanTakeParts(linked.program) || options.finalizer_parts == 1) return 0;
  auto wanted = static_cast<std::uint64_t>(options.finalizer_parts);
  if (wanted == 0) {
    const LiveCode code = LiveCodeOf(linked.program, linked.liveness);
    if (!finalizer.works_at_once() || code.bytes < kWorthTwo ||
        code.bytes < kLeastMean * code.sections) {
      wanted = code.bytes_that_go < kWorthLeavingOut ? 0 : 1;
    } else {
      const bool is_small = code.bytes < kWorthFour || code.bytes < kMeanOfMore * code.sections;
      wanted = is_small ? 2 : code.bytes < kWorthEight ? 4 : 8;
    }
  }
  const bool can = wanted == 0 || std::ranges::all_of(set.inputs, [](const LinkInput& input) {
                     return HasPlainLines(*input.module);
                   });
  return can ? wanted : 0;
}

// What code of the program needs code of others (finalize/needed_code.h).
NeededCode NeedsOf(const LinkSet& set, const FinalizedProgram& linked,
                   const std::vector<CodePart>& parts) {
  std::vector<const Module*> modules;
  modules.reserve(set.inputs.size());
  for (const LinkInput& input : set.inputs) modules.push_back(input.module.get());
  CodeNames stays;
  for (const CodePart& part : parts) {
    for (const std::string_view section : part.sections) stays.insert(section);
  }
  NeededCode out(modules, stays);
  const Program& program = linked.program;
  const auto name_of = [&](FunctionId function) {
    return program.sections[program.functions[function].text].name;
  };
  for (const FunctionId i : CodeOfAllParts(program, linked.graph, linked.liveness)) {
    if (program.IsDefined(i)) out.AlwaysNeed(name_of(i));
  }
  const std::vector<FunctionId> callers = CallersFromKernels(linked.graph, linked.liveness);
  std::vector<CodeCall> calls;
  for (FunctionId i = 0; i < callers.size(); ++i) {
    if (callers[i] != kNone && program.IsDefined(i) && program.IsDefined(callers[i])) {
      calls.push_back({.code = name_of(i), .caller = name_of(callers[i])});
    }
  }
  out.NeedCallers(calls);
  return out;
}

absl::StatusOr<Plan> MakePlan(const LinkSet& set, const FinalizedProgram& linked,
                              const LinkOptions& options, const LinkContext& context,
                              const MercuryFinalizer& finalizer) {
  Plan out{.job = {.target = options.target,
                   .release = options.profile.release,
                   .debug = options.debug && !options.suppress_debug_info,
                   .relocatable = options.relocatable,
                   .nvlink_options = OptionsOfNvlink(options),
                   .stop = context.environment.StopToken()}};
  DEVLINK_RETURN_IF_ERROR(MakeJob(set, linked, options, out.job, out.hidden));
  out.left_out = CodeLeftOut(set, linked);
  out.told_others = ToldOtherKernels(linked, options);
  out.names = linked.program.names;
  const std::size_t wanted = WantedParts(set, linked, options, finalizer);
  out.parts = CutIntoParts(linked.program, linked.liveness, wanted);
  if (out.parts.empty()) {
    if (wanted > 0) context.Log([] { return "the code cannot be finalized in parts"; });
    return out;
  }
  for (const Section& section : linked.program.sections) {
    if (section.kind == SectionKind::kText) out.code.insert(section.name);
  }
  out.needs = NeedsOf(set, linked, out.parts);
  return out;
}

absl::StatusOr<Bytes> FinalizeWhole(const LinkSet& set, Plan plan, const LinkOptions& options,
                                    const LinkContext& context, const MercuryFinalizer& finalizer,
                                    std::string_view& what) {
  const TimeSpan span(context.time_trace, "finalize");
  what = "the finalizer failed";
  DEVLINK_ASSIGN_OR_RETURN(
      auto made, FinalizeReduced(set, plan.left_out, plan.hidden, context, finalizer, plan.job));
  if (!made) {
    DEVLINK_ASSIGN_OR_RETURN(made, FinalizeHiding(plan.hidden, finalizer, std::move(plan.job)));
  }
  // Behind the parts of which nothing came, if there were any.
  context.Keep({.stage = LinkStage::kFinalized,
                .index = static_cast<std::uint32_t>(plan.parts.size()),
                .name = made->tool,
                .bytes = made->cubin});
  const std::vector<std::uint8_t> record = format::EncodeOwnRecord(
      options.profile, options.recorded_object, options.recorded_options, options.recorded_tool);
  what = "what the finalizer made cannot be taken over";
  DEVLINK_ASSIGN_OR_RETURN(Bytes adopted, Adopt(made->cubin, record));
  context.Log([&] { return absl::StrCat("took over ", adopted.size(), " bytes of ", made->tool); });
  return adopted;
}

// One part: the same link, but for the code of all others. Where no kernel is there that goes, it
// need not be said which ones stay.
absl::StatusOr<Finalized> FinalizePart(const LinkSet& set, const Plan& plan, const CodePart& part,
                                       const MercuryFinalizer& finalizer) {
  CodeNames others = plan.code;
  for (const std::string_view section : part.sections) others.erase(section);
  const auto needed = plan.needs->Of(part.sections);
  CodeNames gone;
  FinalizeJob job = plan.job;
  if (needed) {
    for (const std::string_view name : others) {
      if (!needed->contains(name)) gone.insert(name);
    }
    job.kernels_used.clear();
  }
  const std::vector<Bytes> reduced =
      TakeOut(set, job, [&](const Module& module) { return CodeAlone(module, others, gone); });
  if (needed) return finalizer.Finalize(job);
  return FinalizeHiding(plan.hidden, finalizer, std::move(job));
}

// `own` with code that is finalized in parts, several at a time.
absl::StatusOr<JoinedParts> FinalizeParts(const LinkSet& set, const Plan& plan, const Bytes& own,
                                          const LinkOptions& options, const LinkContext& context,
                                          const MercuryFinalizer& finalizer) {
  std::vector<absl::StatusOr<Finalized>> made(plan.parts.size());
  std::atomic<std::size_t> next = 0;
  base::RunWorkers(
      context.environment,
      base::WorkersFor(made.size(), options.parallel.threads, context.environment),
      [&](unsigned /*worker*/) {
        for (std::size_t i = next++; i < made.size(); i = next++) {
          made[i] = base::Guard([&] { return FinalizePart(set, plan, plan.parts[i], finalizer); });
        }
      });
  std::vector<FinalizedPart> parts;
  for (std::size_t i = 0; i < made.size(); ++i) {
    DEVLINK_RETURN_IF_ERROR(made[i].status());
    parts.push_back({std::move(made[i]->cubin), plan.parts[i].sections});
    context.Keep({.stage = LinkStage::kFinalized,
                  .index = static_cast<std::uint32_t>(i),
                  .name = made[i]->tool,
                  .bytes = parts.back().cubin});
  }
  return JoinParts(own, parts);
}

// The same, or what came of it before.
absl::StatusOr<JoinedParts> FinalizeInParts(const LinkSet& set, const Plan& plan, const Bytes& own,
                                            const LinkOptions& options, const LinkContext& context,
                                            const MercuryFinalizer& finalizer) {
  const TimeSpan span(context.time_trace, "finalize");
  // Whoever wants to see the parts gets them.
  if (context.intermediates != nullptr) {
    return FinalizeParts(set, plan, own, options, context, finalizer);
  }
  DEVLINK_ASSIGN_OR_RETURN(
      Finalized made, finalizer.Remembered(plan.job, own, [&]() -> absl::StatusOr<Finalized> {
        DEVLINK_ASSIGN_OR_RETURN(JoinedParts joined,
                                 FinalizeParts(set, plan, own, options, context, finalizer));
        return Finalized{.cubin = std::move(joined.cubin), .messages = std::move(joined.finalized)};
      }));
  return JoinedParts{.cubin = std::move(made.cubin), .finalized = std::move(made.messages)};
}

// In parts, or nothing where that did not come out right.
absl::StatusOr<std::optional<JudgedFile>> TryParts(const LinkSet& set, const Plan& plan,
                                                   const absl::StatusOr<Bytes>& own,
                                                   const LinkOptions& options,
                                                   const LinkContext& context,
                                                   const MercuryFinalizer& finalizer) {
  if (!own.ok()) return std::nullopt;
  if (const absl::Status can = CanBeJoined(*own); !can.ok()) {
    context.Log(
        [&] { return absl::StrCat("the code cannot be finalized in parts: ", can.message()); });
    return std::nullopt;
  }
  auto joined = FinalizeInParts(set, plan, *own, options, context, finalizer);
  if (absl::IsCancelled(joined.status()) || absl::IsDeadlineExceeded(joined.status())) {
    return joined.status();
  }
  context.Log([&] {
    if (!joined.ok()) {
      return absl::StrCat("the finalizer gets the whole program: ", joined.status().message());
    }
    std::string sizes;
    for (const CodePart& part : plan.parts) absl::StrAppend(&sizes, " ", part.bytes);
    return absl::StrCat("the finalizer did its work in ", plan.parts.size(),
                        plan.parts.size() == 1 ? " part of" : " parts of", sizes, " bytes of code");
  });
  if (!joined.ok()) return std::nullopt;
  return JudgedFile{.cubin = std::move(joined->cubin), .finalized = std::move(joined->finalized)};
}

// Own file or none, where the finalizer failed.
absl::StatusOr<std::optional<JudgedFile>> WithoutFinalizer(std::string_view what,
                                                           const absl::Status& why,
                                                           std::optional<absl::StatusOr<Bytes>> own,
                                                           const LinkOptions& options,
                                                           std::vector<Diagnostic>& diagnostics) {
  if (absl::IsCancelled(why)) return why;
  if (own && !own->ok()) {
    if (absl::IsCancelled(own->status())) return own->status();
    return FailFinalizing(own->status(),
                          base::Cat({what, " (", base::FromAbsl(why.message()),
                                     "), and without it the file cannot be made"}),
                          diagnostics);
  }
  // Time must not decide which file is written.
  if (absl::IsDeadlineExceeded(why)) {
    return FailFinalizing(why, "the finalizer takes too long; --finalize=never links without it",
                          diagnostics);
  }
  DEVLINK_RETURN_IF_ERROR(GoWithoutFinalizer(what, why, options, diagnostics));
  if (!own) return std::nullopt;
  return JudgedFile{.cubin = **std::move(own), .is_own = true};
}

}  // namespace

absl::StatusOr<std::optional<JudgedFile>> FinalizeLink(
    const LinkSet& set, const FinalizedProgram& linked, const LinkOptions& options,
    const LinkContext& context, ComposeOwn compose_own, std::vector<Diagnostic>& diagnostics) {
  if (options.finalize == FinalizeMode::kNever) return std::nullopt;
  if (options.relocatable && KeepsReferences(options)) return std::nullopt;
  const auto finalizer = context.toolchain.Finalizer();
  if (!finalizer.ok()) {
    if (options.finalize != FinalizeMode::kAlways) {
      if (!context.toolchain.names_finalizer()) return std::nullopt;
      return WithoutFinalizer("the finalizer cannot be used", finalizer.status(), std::nullopt,
                              options, diagnostics);
    }
    return FailFinalizing(
        absl::UnimplementedError(finalizer.status().message()),
        base::Cat({"a link for '", options.target.Name(),
                   "' needs NVIDIA's finalizer, which nvlink and libnvJitLink have"}),
        diagnostics);
  }
  auto plan = MakePlan(set, linked, options, context, **finalizer);
  std::optional<absl::StatusOr<Bytes>> own;
  if (!plan.ok()) {
    return WithoutFinalizer("the finalizer cannot be used", plan.status(), std::move(own), options,
                            diagnostics);
  }
  // Beyond this point the program is not looked at: our own file may be all that is left of it.
  const bool is_fit = linked.code_is_fit;
  const bool told_others = plan->told_others;
  // With --compat=nvlink the file is taken whatever it is, unless it was told something else.
  const bool wants_own = told_others || options.suppress_debug_info || linked.wants_details ||
                         options.compatibility != Compatibility::kNvlink;
  if (!plan->parts.empty()) {
    own = compose_own();
    auto joined = TryParts(set, *plan, *own, options, context, **finalizer);
    if (!joined.ok()) {
      return WithoutFinalizer("the finalizer failed", joined.status(), std::move(own), options,
                              diagnostics);
    }
    if (*joined) return joined;
  }
  std::string_view what;
  auto made = FinalizeWhole(set, *std::move(plan), options, context, **finalizer, what);
  if (!made.ok()) {
    return WithoutFinalizer(what, made.status(), std::move(own), options, diagnostics);
  }
  if (!wants_own) return JudgedFile{.cubin = *std::move(made)};
  if (!own) own = compose_own();
  DEVLINK_ASSIGN_OR_RETURN(
      JudgedFile judged,
      JudgeFinalized({*std::move(made), *own, is_fit, told_others}, options, context, diagnostics));
  return judged;
}

}  // namespace devlink::internal
