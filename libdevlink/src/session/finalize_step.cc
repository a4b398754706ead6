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
#include "finalize/reduced_input.h"
#include "finalize/telling_texts.h"
#include "format/make_diagnostic.h"
#include "format/notes.h"
#include "format/views.h"
#include "link/call_graph.h"
#include "link/liveness.h"
#include "merge/merge.h"
#include "model/module.h"
#include "plan/settings.h"

namespace devlink::internal {

namespace {

absl::Status Fail(const absl::Status& status, std::string_view what,
                  std::vector<Diagnostic>& diagnostics) {
  diagnostics.push_back(
      format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUnsupportedFeature, "",
                             std::string(what), std::string(base::FromAbsl(status.message()))));
  return status;
}

// The kernels that host code chooses, by the rules of the Mercury view.
class ChosenKernels {
 public:
  // Says what stays in texts of -kernels-used.
  static absl::StatusOr<ChosenKernels> Find(const LinkSet& set, const KernelSelection& kernels,
                                            const LinkOptions& options, FinalizeJob& job);

  // The names of the shared memory of kernels that go, which nvlink enters with the kernels.
  void AddNames(Adoption& adoption) const {
    adoption.section_names = NamesLeft(program_.section_names);
    adoption.symbol_names = NamesLeft(program_.symbol_names);
  }

 private:
  [[nodiscard]] std::vector<LeftName> NamesLeft(const std::vector<NameEntry>& entries) const;
  [[nodiscard]] bool IsGone(const NameEntry& name) const;

  Program program_;
  Liveness liveness_;
  std::vector<SectionId> left_;
};

absl::StatusOr<ChosenKernels> ChosenKernels::Find(const LinkSet& set,
                                                  const KernelSelection& kernels,
                                                  const LinkOptions& options, FinalizeJob& job) {
  ChosenKernels out;
  std::vector<Diagnostic> found;  // which the merge of machine code has reported
  DEVLINK_ASSIGN_OR_RETURN(Merged merged, Merge(set.inputs,
                                                {.sm = options.target.number,
                                                 .profile = options.profile,
                                                 .kernels = kernels,
                                                 .compatibility = options.compatibility,
                                                 .view = format::ViewKind::kMercury},
                                                found));
  out.program_ = std::move(merged.program);
  const Program& program = out.program_;
  const CallGraph graph(program);
  out.liveness_ = FindLiveFunctions(program, graph, /*keep_all=*/false, kernels,
                                    options.compatibility == Compatibility::kNvlink);
  std::vector<std::string_view> kept;
  for (const FunctionId kernel : out.liveness_.kernels) {
    const Symbol& symbol = program.symbols[program.functions[kernel].symbol];
    // Also where only device code uses it, unless nvlink leaves kernels out as they are met: then
    // such a kernel comes back later, and its names with it.
    if (kernels.ByHostReferences() || kernels.Wants(symbol)) {
      kept.push_back(symbol.name);
    }
  }
  std::vector<std::string_view> left_out;
  for (const FunctionId kernel : out.liveness_.left_out) {
    const Function& function = program.functions[kernel];
    if (function.shared != kNone) out.left_.push_back(function.shared);
    left_out.push_back(program.symbols[function.symbol].name);
  }
  job.kernels_used = TellingTexts(kept, left_out);
  // With a text that no name has, none stays.
  if (job.kernels_used.empty()) job.variables_used.emplace_back("?");
  const TextsWithin wanted(job.kernels_used);
  for (const std::string_view name : left_out) {
    const std::string_view held = wanted.FirstIn(name);
    if (held.empty()) continue;
    return absl::UnimplementedError(base::ToAbsl(base::Cat(
        {"kernel '", name, "' is left out, and its name holds that of '", held,
         "', which stays: the finalizer cannot tell them apart; link with -ignore-host-info"})));
  }
  return out;
}

bool ChosenKernels::IsGone(const NameEntry& name) const {
  if (name.section != kNone) return liveness_.section_removed[name.section];
  if (name.symbol == kNone) return false;
  const FunctionId function = program_.symbols[name.symbol].function;
  return function != kNone && !liveness_.live[function];
}

// With the names in front of them, in the order in which they enter a table.
std::vector<LeftName> ChosenKernels::NamesLeft(const std::vector<NameEntry>& entries) const {
  constexpr std::ptrdiff_t kNeighbours = 64;
  std::vector<LeftName> out;
  std::vector<std::string_view> before;
  base::StringArena spellings;
  base::HashSet<SectionId> left(left_.begin(), left_.end());
  base::HashSet<SectionId> added_before;
  for (const NameEntry& name : entries) {
    if (name.section != kNone && left.contains(name.section)) {
      if (!added_before.insert(name.section).second) continue;  // some are entered twice
      LeftName& added = out.emplace_back();
      added.text = name.text;
      const auto nearest = std::min(kNeighbours, std::ssize(before));
      for (auto other = before.rbegin(); other != before.rbegin() + nearest; ++other) {
        // nvlink writes the name of machine code over that of the Mercury view.
        const std::string_view plain = format::NameInMachineCode(*other, spellings);
        added.behind.emplace_back(*other);
        if (plain != *other) added.behind.emplace_back(plain);
      }
    } else if (!IsGone(name)) {
      before.push_back(name.text);
    }
  }
  return out;
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

absl::StatusOr<Adoption> MakeJob(const LinkSet& set, const Program& program,
                                 const LinkOptions& options, FinalizeJob& job) {
  if (const std::string_view unknown = OptionUnknownToFinalizer(options); !unknown.empty()) {
    return absl::UnimplementedError(base::ToAbsl(base::Cat({"the finalizer knows no ", unknown})));
  }
  if (!program.remembered_addresses.empty()) {
    return absl::UnimplementedError(
        "the finalizer forgets functions to which only variables point; --compat=nvlink, too");
  }
  Adoption out;
  for (const LinkInput& input : set.inputs) {
    job.inputs.push_back({input.name, input.module->bytes()});
  }
  if (options.debug) return out;  // every kernel stays
  if (NamesWhatIsUsed(options)) {
    job.kernels_used = options.kernels_used;
    job.variables_used = options.variables_used;
    return out;
  }
  const KernelSelection kernels =
      SelectKernels(options, set.references, set.references_known_before);
  if (!kernels.LeavesOut() || options.relocatable) return out;
  DEVLINK_ASSIGN_OR_RETURN(const ChosenKernels chosen,
                           ChosenKernels::Find(set, kernels, options, job));
  // Of kernels that go as they are met no name stays.
  if (kernels.ByHostReferences()) chosen.AddNames(out);
  return out;
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

// The same job with what stays only, which takes a fraction of the time where libraries are linked.
// Nothing where nothing goes, or where it did not come out right: then the whole inputs have to do.
absl::StatusOr<std::optional<Finalized>> FinalizeReduced(const LinkSet& set,
                                                         const CodeNames& left_out,
                                                         const LinkContext& context,
                                                         const MercuryFinalizer& finalizer,
                                                         FinalizeJob job) {
  std::vector<Bytes> reduced;  // which the job borrows
  reduced.reserve(set.inputs.size());
  for (std::size_t i = 0; i < set.inputs.size(); ++i) {
    auto without = WithoutCode(*set.inputs[i].module, left_out);
    if (without) job.inputs[i].bytes = reduced.emplace_back(*std::move(without));
  }
  if (reduced.empty()) return std::nullopt;
  auto made = finalizer.Finalize(job);
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
                  .debug = options.debug,
                  .relocatable = options.relocatable,
                  .stop = context.environment.StopToken()};
  what = "the finalizer cannot be used";
  DEVLINK_ASSIGN_OR_RETURN(Adoption adoption, MakeJob(set, program.program, options, job));
  what = "the finalizer failed";
  const CodeNames left_out = CodeLeftOut(set, program);
  DEVLINK_ASSIGN_OR_RETURN(auto made, FinalizeReduced(set, left_out, context, finalizer, job));
  if (!made) {
    DEVLINK_ASSIGN_OR_RETURN(made, finalizer.Finalize(job));
  }
  context.Keep({.stage = LinkStage::kFinalized, .name = finalizer.name(), .bytes = made->cubin});
  const std::vector<std::uint8_t> record = format::EncodeOwnRecord(
      options.profile, options.recorded_object, options.recorded_options, options.recorded_tool);
  adoption.record = record;
  what = "what the finalizer made cannot be taken over";
  DEVLINK_ASSIGN_OR_RETURN(Bytes adopted, Adopt(made->cubin, adoption));
  context.Log([&] {
    return absl::StrCat("took over ", adopted.size(), " bytes of ", base::ToAbsl(finalizer.name()));
  });
  return adopted;
}

}  // namespace

absl::StatusOr<std::optional<Bytes>> FinalizeLink(const LinkSet& set,
                                                  const FinalizedProgram& program,
                                                  const LinkOptions& options,
                                                  const LinkContext& context,
                                                  std::vector<Diagnostic>& diagnostics) {
  if (options.finalize == FinalizeMode::kNever) return std::nullopt;
  if (options.relocatable && KeepsReferences(options)) return std::nullopt;
  const bool must = options.finalize == FinalizeMode::kAlways;
  const auto finalizer = context.toolchain.Finalizer();
  if (!finalizer.ok()) {
    if (!must) return std::nullopt;
    return Fail(absl::UnimplementedError(finalizer.status().message()),
                base::Cat({"a link for '", options.target.Name(),
                           "' needs NVIDIA's finalizer, which is part of libnvJitLink"}),
                diagnostics);
  }
  std::string_view what;
  auto made = Finalize(set, program, options, context, **finalizer, what);
  if (made.ok()) return *std::move(made);
  if (absl::IsCancelled(made.status())) return made.status();
  if (must) return Fail(made.status(), what, diagnostics);
  Diagnostic& note = diagnostics.emplace_back();
  note.severity = Severity::kInfo;
  note.code = DiagnosticCode::kUnsupportedFeature;
  note.notes.push_back(base::Cat({what, ", so the code is as the assembler made it: ",
                                  base::FromAbsl(made.status().message())}));
  return std::nullopt;
}

}  // namespace devlink::internal
