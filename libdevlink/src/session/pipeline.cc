// SPDX-License-Identifier: Apache-2.0
//
// The story of a link, in order. Each step reads what stands above it and changes none of it.
#include "session/pipeline.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/run_together.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/strings.h"
#include "base/workers.h"
#include "format/make_diagnostic.h"
#include "format/sm_traits.h"
#include "format/views.h"
#include "image/describe.h"
#include "link/attributes.h"
#include "link/call_graph.h"
#include "link/check.h"
#include "link/constant_layout.h"
#include "link/fold.h"
#include "link/liveness.h"
#include "link/pass_results.h"
#include "link/pointers.h"
#include "link/relocate.h"
#include "link/relocate_partial.h"
#include "link/resources.h"
#include "link/shared_layout.h"
#include "link/shared_partial.h"
#include "link/texture_layout.h"
#include "link/unmatched_references.h"
#include "link/verify.h"
#include "merge/merge.h"
#include "merge/stale_tables.h"
#include "model/kernel_selection.h"
#include "model/module.h"
#include "plan/assembled_ptx.h"
#include "plan/compile_lto.h"
#include "plan/definitions.h"
#include "plan/link_order.h"
#include "plan/selection.h"
#include "plan/settings.h"
#include "report/call_graph_text.h"
#include "report/details.h"
#include "report/dump.h"
#include "report/report.h"
#include "session/finalize_step.h"
#include "session/input_details.h"
#include "session/pass_watch.h"
#include "session/refusals.h"

namespace devlink::internal {

namespace {

// What a link hands out: the outcome, its details where the options ask for them, and the bytes.
struct Results {
  LinkOutcome& out;
  LinkDetails* details = nullptr;
  OutputSink* output = nullptr;
};

// The part of the story that is behind the choice of the inputs.
absl::Status LinkSelected(Selection& selection, const LinkOptions& options,
                          const LinkContext& context, const std::stop_token& stop,
                          const Results& results);
// And what of that is behind all compilers.
absl::Status LinkCubins(Selection& selection, std::vector<LtoPiece> pieces,
                        const LinkOptions& options, const LinkContext& context,
                        const std::stop_token& stop, const Results& results);

void Append(std::vector<Diagnostic>&& from, std::vector<Diagnostic>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

bool AnyError(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity >= Severity::kError;
  });
}

// The inputs as the register file lists them. LTO holds the device runtime back until it is known
// whether anything needs it.
void Register(const Selection& selection, bool left_out_runtime, LinkOutcome& out) {
  out.registered.clear();
  out.registered.reserve(selection.registered.size());
  out.dropped_device_runtime = selection.dropped_device_runtime;
  for (const RegisteredObject& registered : selection.registered) {
    const ObjectRecord& object = *registered.object;
    if (registered.left_out && !registered.was_linked_before) continue;
    if (object.is_device_runtime && left_out_runtime) continue;
    if (!object.prelinked_ids.empty()) continue;
    out.registered.push_back({object.name, object.ids, registered.was_linked_before});
  }
}

// Bytes in front of a kernel's shared memory that the system keeps for itself. The Mercury view
// does not count them.
std::uint64_t ReservedShared(const LinkOptions& options,
                             format::ViewKind view = format::ViewKind::kSass) {
  if (view == format::ViewKind::kMercury || options.disable_shared_reservation) return 0;
  return format::TraitsOf(options.target).reserved_shared;
}

// What is not there for every target.
absl::Status CheckOptionsOfTarget(const LinkOptions& options,
                                  std::vector<Diagnostic>& diagnostics) {
  if (!format::HasTwoViews(options.target.number)) return absl::OkStatus();
  std::string_view option;
  if (options.retained_symbols) option = "--retain-symbols-file";
  if (options.fold_identical_functions) option = "--icf";
  if (option.empty()) return absl::OkStatus();
  return Unsupported(base::Cat({option, " is there for targets below sm_100 only"}),
                     "link without it: the program does the same", diagnostics);
}

// Every input becomes one program; names and the order of creation are settled.
absl::StatusOr<Merged> MergeInputs(const LinkSet& set, const KernelSelection& kernels,
                                   const LinkOptions& options, const LinkContext& context,
                                   format::ViewKind view, std::vector<Diagnostic>& found) {
  auto merged = Merge(set.inputs,
                      {.sm = options.target.number,
                       .architecture_specific = options.target.variant == 'a',
                       .profile = options.profile,
                       .kernels = kernels,
                       .relocatable = options.relocatable,
                       .severities = SeverityPolicyOf(options),
                       .compatibility = options.compatibility,
                       .view = view,
                       .force_rela = options.force_rela,
                       .preserve_resolved = options.preserve_relocations,
                       .allow_undefined = options.allow_undefined_globals,
                       .host_section = options.host_section,
                       .keep_maps = format::HasTwoViews(options.target.number)},
                      found);
  if (merged.ok()) {
    context.Log([&] {
      return absl::StrCat("merged ", set.inputs.size(),
                          " inputs: ", merged->program.functions.size(), " functions, ",
                          merged->program.sections.size(), " sections");
    });
  }
  return merged;
}

// Who calls whom, and who stays.
struct WhoStays {
  CallGraph graph;
  Liveness liveness;
};

WhoStays FindWhoStays(const Program& program, const KernelSelection& kernels,
                      const LinkOptions& options, std::span<const FunctionId> kept,
                      bool loses_behind_pointers) {
  CallGraph graph(program);
  Liveness liveness = FindLiveFunctions(
      program, graph, LeavesOutNothing(options), options.relocatable ? KernelSelection() : kernels,
      {.as_nvlink = options.compatibility == Compatibility::kNvlink,
       .also = kept,
       .loses_behind_pointers = loses_behind_pointers});
  return {std::move(graph), std::move(liveness)};
}

// What the passes between liveness and relocation read.
struct PassInputs {
  const Program& merged;
  const CallGraph& graph;
  const CallGraph& followed;  // without edges that nobody follows
  const Liveness& liveness;
  const LinkOptions& options;
};

// Where variables and constants lie.
struct Places {
  SharedLayout shared;
  ConstantLayout constants;
  TextureLayout textures;
};

Places LayOut(const PassInputs& in, PassWatch& watch) {
  const auto& [merged, graph, followed, liveness, options] = in;
  const bool partial = options.relocatable;
  Places out;
  // A debugger is told where shared variables are.
  const bool describes_shared = options.debug && !options.suppress_debug_info;
  out.shared =
      partial ? LayOutSharedPartial(merged, liveness,
                                    {.debug = describes_shared,
                                     .place_external = !KeepsReferences(options),
                                     .align_external = options.profile.aligns_external_shared,
                                     .reserve_null_pointer = options.reserve_null_pointer,
                                     .global_instances = options.profile.weak_symbols_are_global})
              : LayOutShared(merged, followed, liveness,
                             {.reserved = ReservedShared(options, merged.view),
                              .debug = describes_shared,
                              .lists_symbols = options.preserve_relocations,
                              .reserve_null_pointer = options.reserve_null_pointer,
                              .align_external = options.profile.aligns_external_shared});
  watch.After(LinkPass::kShared, [&] {
    return partial ? DumpShared(merged, out.shared.partial)
                   : DumpShared(merged, liveness, out.shared);
  });
  if (!partial)
    out.constants = LayOutConstants(merged, followed, liveness, options.max_memory_bytes);
  watch.After(LinkPass::kConstants, [&] { return DumpConstants(merged, out.constants); });
  if (!partial) out.textures = LayOutTextures(merged, followed, liveness);
  watch.After(LinkPass::kTextures, [&] { return DumpTextures(merged, out.textures); });
  return out;
}

// What travels along calls.
struct Travelled {
  Resources resources;
  Attributes attributes;
};

Travelled FollowCalls(const PassInputs& in, PassWatch& watch) {
  const auto& [merged, graph, followed, liveness, options] = in;
  const bool partial = options.relocatable;
  Travelled out;
  out.resources =
      partial ? OwnResources(merged, liveness) : PropagateResources(merged, followed, liveness);
  watch.After(LinkPass::kResources, [&] { return DumpResources(merged, liveness, out.resources); });
  out.attributes = partial ? KeepAttributes(merged, graph, liveness)
                           : PropagateAttributes(merged, followed, liveness, options.profile);
  watch.After(LinkPass::kAttributes, [&] { return DumpAttributes(merged, out.attributes); });
  return out;
}

// All that is laid out, and that travels, as text.
std::string Described(const PassInputs& in, const Places& places, const Travelled& travelled) {
  const auto& [merged, graph, followed, liveness, options] = in;
  return absl::StrCat(
      DumpShared(merged, liveness, places.shared), DumpConstants(merged, places.constants),
      DumpTextures(merged, places.textures), DumpResources(merged, liveness, travelled.resources),
      DumpAttributes(merged, travelled.attributes));
}

// Whether anything would be other if only the calls of the one kernel that is wanted counted, as
// for nvlink.
bool KeepsLost(const PassInputs& in, const Places& places, const Travelled& travelled,
               const LinkContext& context) {
  const FunctionId single = in.liveness.single_kernel;
  if (single == kNone) return true;  // code is
  std::vector<FunctionId> others = in.liveness.kernels;
  std::erase(others, single);
  const CallGraph cut(in.merged, others);
  const PassInputs as_nvlink{in.merged, in.graph, cut, in.liveness, in.options};
  LinkContext unwatched = context;
  unwatched.passes = nullptr;
  PassWatch watch(unwatched);
  const Places lost_places = LayOut(as_nvlink, watch);
  const Travelled lost = FollowCalls(as_nvlink, watch);
  return Described(in, places, travelled) != Described(as_nvlink, lost_places, lost);
}

// How many passes run at a time. Small programs are done before a thread has begun, and whoever
// watches is told of one pass after the other.
unsigned PassesAtATime(const Program& program, const LinkContext& context,
                       const ParallelOptions& parallel) {
  constexpr std::size_t kWorthAThread = 4000;  // functions, which take some milliseconds
  if (program.functions.size() < kWorthAThread || context.passes != nullptr) return 1;
  return base::WorkersFor(2, parallel.threads, context.environment);
}

// What each pass finds about the program. In a partial link (-r) nothing is left out, nothing is
// laid out and nothing travels along calls: the next link does that.
std::unique_ptr<PassResults> RunPasses(Merged&& inputs, const KernelSelection& kernels,
                                       const LinkOptions& options, const LinkContext& context,
                                       PassWatch& watch) {
  const bool partial = options.relocatable;
  const NamedFunctions kept = FindFunctions(inputs.program, options.kept_functions);
  if (options.fold_identical_functions && !options.debug) {
    inputs.program = FoldIdentical(std::move(inputs.program), kept.functions).program;
  }
  const bool two_views = format::HasTwoViews(options.target.number);
  // NVIDIA's finalizer leaves out what only pointers lead to, and without it there is no such link.
  const bool needs_finalizer =
      two_views && (inputs.file.needs_finalizer != kNone || RefersToTextures(inputs.program));
  const auto find = [&](bool loses_behind_pointers) {
    return FindWhoStays(inputs.program, kernels, options, kept.functions, loses_behind_pointers);
  };
  WhoStays who = find(needs_finalizer);
  if (options.compatibility != Compatibility::kNvlink) {
    const auto lost = FindLostPointers(inputs.program, who.liveness, partial);
    if (needs_finalizer) {
      inputs.program = AsFinalizerHasIt(std::move(inputs.program), lost);
    } else if (!lost.empty()) {
      inputs.program = WithAddressesTaken(std::move(inputs.program), lost);
      who = find(false);
    }
    // That nobody calls what is missing is no reason to fail.
    if (who.liveness.missing_behind_pointers != kNone) who = find(true);
  }
  const Program& merged = inputs.program;
  CallGraph& graph = who.graph;
  Liveness& liveness = who.liveness;
  watch.After(LinkPass::kCallGraph, [&] { return DumpCallGraph(merged, graph); });
  std::optional<CallGraph> cut;
  if (!liveness.unfollowed.empty()) cut.emplace(merged, liveness.unfollowed);
  const CallGraph& followed = cut ? *cut : graph;
  watch.After(LinkPass::kLiveness, [&] { return DumpLiveness(merged, liveness); });

  // Neither reads what the other finds.
  const PassInputs in{merged, graph, followed, liveness, options};
  Places places;
  Travelled travelled;
  base::RunTogether(
      context.environment, PassesAtATime(merged, context, options.parallel),
      [&] { places = LayOut(in, watch); },
      [&] {
        PassWatch own(context);
        travelled = FollowCalls(in, own);
      });
  if (liveness.keeps_lost && !partial) {
    liveness.keeps_lost = KeepsLost(in, places, travelled, context);
  }
  watch.Restart();
  // Beyond this point the layout of memory is fixed.

  // Relocations are resolved, or kept for whoever knows the addresses.
  Relocated relocated =
      partial
          ? RelocatePartial(merged, liveness, places.shared.partial,
                            {.keep_references = KeepsReferences(options),
                             .keep_shared = options.profile.relocatable_keeps_shared,
                             .two_views = two_views})
          : Relocate(merged, liveness, places.shared, places.constants, places.textures, two_views);
  watch.After(LinkPass::kRelocate, [&] { return DumpRelocated(merged, relocated); });
  return std::make_unique<PassResults>(PassResults{
      std::move(inputs.program), std::move(graph), std::move(liveness), std::move(places.shared),
      std::move(places.constants), std::move(places.textures), std::move(travelled.resources),
      std::move(travelled.attributes), std::move(relocated), std::move(inputs.file)});
}

CheckInput InputOfCheck(const PassResults& passes, const LinkSet& set) {
  return {set.inputs,       passes.program,   passes.graph,      passes.liveness, passes.shared,
          passes.constants, passes.resources, passes.attributes, passes.relocated};
}

CheckSettings SettingsOfCheck(const LinkOptions& options) {
  return {.severities = SeverityPolicyOf(options),
          .warn_of_unknown_stacks = !options.suppress_stack_size_warning,
          .reserved_shared = ReservedShared(options),
          .as_nvlink = options.compatibility == Compatibility::kNvlink,
          .allow_undefined_globals = options.allow_undefined_globals};
}

// Whether what the passes found is a program that can run. One that is linked again need not be.
absl::Status CheckResults(const PassResults& passes, const LinkSet& set, const LinkOptions& options,
                          LinkOutcome& out) {
  absl::Status sound;
  if (!options.relocatable) {
    sound = CheckProgram(InputOfCheck(passes, set), SettingsOfCheck(options), out.diagnostics);
    if (options.dump_call_graph) {
      for (std::string& line : CallGraphLines(passes, options.target)) {
        out.diagnostics.push_back(
            {.severity = Severity::kInfo, .text = std::move(line), .verbatim = true});
      }
    }
  }
  if (options.dot_call_graph) out.call_graph_dot = CallGraphDot(passes, options.relocatable);
  for (const std::string& name : FindFunctions(passes.program, options.kept_functions).missing) {
    out.diagnostics.push_back(format::MakeDiagnostic(
        Severity::kWarning, DiagnosticCode::kUsage, "",
        base::Cat({"--undefined names '", name, "', which no input defines"})));
  }
  if (options.verbose) {
    const bool two_views = format::HasTwoViews(options.target.number);
    Append(DescribeUsage(passes, out.report, two_views), out.diagnostics);
  }
  if (auto warning = WarnOfEarlyReferences(passes.relocated)) {
    out.diagnostics.push_back(*std::move(warning));
  }
  return sound;
}

// What was described is laid out and written. What the passes found is gone by now.
absl::Status WriteCubin(CubinDescription&& cubin, const LinkOptions& options,
                        const LinkContext& context, const Results& results) {
  LinkOutcome& out = results.out;
  context.Report(LinkPhase::kWriting);
  const TimeSpan span(context.time_trace, "write output");
  auto size = cubin.writer.LayOut();
  if (!size.ok()) return ReportUnwritable(size.status(), options.target, out.diagnostics);
  if (context.passes != nullptr) {
    context.passes->After(LinkPass::kImage, [&] {
      const auto bytes = cubin.writer.Write();
      return bytes.ok() ? DumpCubin(*bytes) : bytes.status().ToString() + "\n";
    });
  }
  out.report.output_bytes = *size;
  if (results.output == nullptr) {
    DEVLINK_ASSIGN_OR_RETURN(out.cubin, cubin.writer.Write());
    if (results.details != nullptr) results.details->sections = OutputSections(out.cubin);
  } else {
    if (results.details != nullptr) {
      DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::uint8_t> copy, cubin.writer.Write());
      results.details->sections = OutputSections(copy);
    }
    DEVLINK_RETURN_IF_ERROR(
        cubin.writer.WriteTo(*results.output, context.environment, options.parallel.threads));
  }
  context.Log([&] { return absl::StrCat("wrote ", *size, " bytes"); });
  return absl::OkStatus();
}

// The Mercury view of the inputs. What is wrong with both views was said of their machine code.
absl::StatusOr<PassedView> PassMercuryView(const LinkSet& set, const KernelSelection& kernels,
                                           const LinkOptions& options, const LinkContext& context,
                                           LinkOutcome& out) {
  std::vector<Diagnostic> found;
  auto merged = MergeInputs(set, kernels, options, context, format::ViewKind::kMercury, found);
  if (!merged.ok()) {
    Append(std::move(found), out.diagnostics);
    return merged.status();
  }
  LinkContext unwatched = context;
  unwatched.passes = nullptr;
  PassWatch watch(unwatched);
  InputMaps maps = std::move(merged->maps);
  auto passes = RunPasses(*std::move(merged), kernels, options, unwatched, watch);
  if (!options.relocatable) {
    DEVLINK_RETURN_IF_ERROR(CheckMercuryReferences(InputOfCheck(*passes, set),
                                                   SettingsOfCheck(options), out.diagnostics));
  }
  return PassedView{std::move(passes), std::move(maps)};
}

// The program that a link makes, found to be sound.
struct LinkedProgram {
  KernelSelection kernels;
  PassedView passed;       // machine code
  std::string lost_table;  // SoundInputs::lost
};

// From cubins in link order to all that is known of the output.
absl::StatusOr<LinkedProgram> LinkProgram(const LinkSet& set, const LinkOptions& options,
                                          const LinkContext& context, const Results& results) {
  LinkOutcome& out = results.out;
  out.report = ReportInputs(set.inputs);
  PassWatch watch(context);

  // 4. One program. Beyond this point names and the order of creation are settled.
  KernelSelection kernels = SelectKernels(options, set.references, set.references_known_before);
  auto merged =
      MergeInputs(set, kernels, options, context, format::ViewKind::kSass, out.diagnostics);
  if (!merged.ok()) return merged.status();
  watch.After(LinkPass::kMerge,
              [&] { return DumpProgram(merged->program) + DumpFileParts(merged->file); });
  InputMaps maps = std::move(merged->maps);

  // 5. What each pass finds about it.
  auto passed = RunPasses(*std::move(merged), kernels, options, context, watch);
  const PassResults& passes = *passed;

  // 6. Told first, judged after: a link that fails has a report, too.
  const TimeSpan span(context.time_trace, "check and describe");
  out.report = MakeReport(passes, set.inputs);
  if (results.details != nullptr) {
    *results.details = DescribeLink(passes, set.inputs, kernels, options);
  }
  DEVLINK_RETURN_IF_ERROR(CheckResults(passes, set, options, out));
  if (auto note = NoteUnmatchedReferences(passes.program, passes.liveness, kernels)) {
    out.diagnostics.push_back(*std::move(note));
  }
  for (auto& note : {NoteForgottenAddresses(passes.program), NoteSecondCopyPointers(passes.program),
                     NoteBehindPointers(passes.program, passes.graph, passes.liveness),
                     NoteLostByOne(passes.program, passes.liveness)}) {
    if (note) out.diagnostics.push_back(*note);
  }
  absl::Status wrong =
      VerifyResults(passes, {.reserved = ReservedShared(options),
                             .partial = options.relocatable,
                             .sizes_as_nvlink = options.compatibility == Compatibility::kNvlink});
  if (!wrong.ok()) return ReportInternalError(std::move(wrong), out.diagnostics);
  return LinkedProgram{std::move(kernels), {std::move(passed), std::move(maps)}, {}};
}

// What cannot be composed of both views, though NVIDIA's tools link it.
absl::Status CheckComposable(const LinkedProgram& program, const LinkOptions& options,
                             std::vector<Diagnostic>& diagnostics) {
  if (!program.lost_table.empty() && !options.relocatable) {
    return RefuseLostTable(program.lost_table, diagnostics);
  }
  const PassResults& passes = *program.passed.passes;
  if (passes.textures.banks.empty() && !(options.relocatable && RefersToTextures(passes.program))) {
    return absl::OkStatus();
  }
  return Unsupported(
      "texture and surface references for sm_100 and later are not linked yet",
      "with nvlink or libnvJitLink of a toolkit they are; texture objects need nothing of a link",
      diagnostics);
}

// Whether the code is for the target as it is; else only NVIDIA's finalizer makes it fit.
bool IsFitCode(const PassResults& passes, const LinkSet& set) {
  return passes.file.needs_finalizer >= set.inputs.size();
}

absl::Status CheckCode(const PassResults& passes, const LinkSet& set, const LinkOptions& options,
                       std::vector<Diagnostic>& diagnostics) {
  if (IsFitCode(passes, set)) return absl::OkStatus();
  return Unsupported(absl::StrCat("'", set.inputs[passes.file.needs_finalizer].name,
                                  "' was made for another architecture", " than ",
                                  options.target.Name(), " and needs NVIDIA's finalizer"),
                     "nvlink and libnvJitLink have it; or compile for the target itself",
                     diagnostics);
}

// From there to a description of the output. What the passes found does not outlive it: the output
// is written when all of that memory is free.
absl::StatusOr<CubinDescription> DescribeOutput(LinkedProgram&& program, const LinkSet& set,
                                                const LinkOptions& options,
                                                const LinkContext& context, LinkOutcome& out) {
  const TimeSpan span(context.time_trace, "describe output");
  // 7. Beyond this point nothing is decided, only written.
  const ImageSettings settings{
      .target = options.target,
      .profile = options.profile,
      .recorded_object = options.recorded_object,
      .recorded_options = options.recorded_options,
      .recorded_tool = options.recorded_tool,
      .relocatable = options.relocatable,
      .keep_references = KeepsReferences(options),
      .spoils_names = options.compatibility == Compatibility::kNvlink,
      .preserve_relocations = options.preserve_relocations,
      .retained_symbols = options.retained_symbols ? &*options.retained_symbols : nullptr};
  if (!format::HasTwoViews(options.target.number)) {
    return Describe(std::move(program.passed.passes), settings);
  }
  DEVLINK_RETURN_IF_ERROR(CheckComposable(program, options, out.diagnostics));
  // The same program as Mercury code, whose order the file has.
  DEVLINK_ASSIGN_OR_RETURN(PassedView mercury,
                           PassMercuryView(set, program.kernels, options, context, out));
  auto cubin = DescribeTwoViews(std::move(mercury), std::move(program.passed), settings);
  if (!cubin.ok()) return ReportUnwritable(cubin.status(), options.target, out.diagnostics);
  return cubin;
}

// Another thread has room made for a large output meanwhile. With two views passes run here that
// have threads of their own.
absl::StatusOr<CubinDescription> DescribeExpected(LinkedProgram&& program, const LinkSet& set,
                                                  const LinkOptions& options,
                                                  const LinkContext& context,
                                                  const Results& results) {
  constexpr std::uint64_t kWorthAThread = 8 << 20;  // whose pages take some milliseconds
  const bool may_expect = results.output != nullptr && !format::HasTwoViews(options.target.number);
  const std::uint64_t bytes = may_expect ? ContentBytes(*program.passed.passes) : 0;
  const auto describe = [&] {
    return DescribeOutput(std::move(program), set, options, context, results.out);
  };
  if (bytes < kWorthAThread) return describe();
  return base::RunBeside<absl::StatusOr<CubinDescription>>(
      context.environment, base::WorkersFor(2, options.parallel.threads, context.environment),
      describe, [&] {
        const TimeSpan span(context.time_trace, "make room");
        results.output->Expect(bytes);
      });
}

// The whole file that the link makes without the finalizer. What was told of it stays in `out`.
absl::StatusOr<std::vector<std::uint8_t>> ComposeOwn(LinkedProgram&& program, const LinkSet& set,
                                                     const LinkOptions& options,
                                                     const LinkContext& context, LinkOutcome& out) {
  DEVLINK_ASSIGN_OR_RETURN(CubinDescription own,
                           DescribeOutput(std::move(program), set, options, context, out));
  if (auto size = own.writer.LayOut(); !size.ok()) return size.status();
  return own.writer.Write();
}

// A cubin that a tool made is the output.
absl::Status WriteBytes(std::vector<std::uint8_t>&& cubin, const Results& results) {
  if (results.details != nullptr) results.details->sections = OutputSections(cubin);
  results.out.report.output_bytes = cubin.size();
  if (results.output == nullptr) {
    results.out.cubin = std::move(cubin);
    return absl::OkStatus();
  }
  DEVLINK_RETURN_IF_ERROR(results.output->Begin(cubin.size()));
  return results.output->Append(cubin);
}

// NVIDIA's library may know better code, and then that is the output. False: it does not, and the
// program is as it was.
absl::StatusOr<bool> WriteFinalized(LinkedProgram& program, const LinkSet& set,
                                    const LinkOptions& options, const LinkContext& context,
                                    const Results& results) {
  const PassResults& passes = *program.passed.passes;
  LinkOutcome of_own;
  const auto compose = [&] {
    return ComposeOwn(std::move(program), set, options, context, of_own);
  };
  DEVLINK_ASSIGN_OR_RETURN(auto judged,
                           FinalizeLink(set,
                                        {.program = passes.program,
                                         .graph = passes.graph,
                                         .liveness = passes.liveness,
                                         .kernels = program.kernels,
                                         .code_is_fit = IsFitCode(passes, set),
                                         .wants_details = results.details != nullptr},
                                        options, context, compose, results.out.diagnostics));
  if (!judged) return false;
  if (judged->is_own) Append(std::move(of_own.diagnostics), results.out.diagnostics);
  if (results.details != nullptr && judged->finalized) {
    MarkFinalized(*judged->finalized, *results.details);
  }
  DEVLINK_RETURN_IF_ERROR(WriteBytes(std::move(judged->cubin), results));
  return true;
}

// The one cubin that LTO made of everything is the output.
absl::Status WriteWholeProgram(std::vector<std::uint8_t>&& cubin, const LtoSelection& lto,
                               const Results& results) {
  LinkReport& report = results.out.report;
  report = ReportWholeProgram(cubin);
  if (results.details != nullptr) *results.details = DescribeWholeProgram(cubin, kLtoResultName);
  report.inputs = static_cast<std::uint32_t>(lto.modules.size());
  for (const SelectedIr& module : lto.modules) report.input_bytes += module.code->bytes.size();
  return WriteBytes(std::move(cubin), results);
}

absl::Status Run(std::span<const InputRecordRef> records, const LinkOptions& options,
                 const LinkContext& context, const Results& results) {
  LinkOutcome& out = results.out;
  const std::stop_token stop = context.environment.StopToken();
  DEVLINK_RETURN_IF_ERROR(base::CheckStop(stop));

  // 1. Inputs. PTX becomes modules, and all that depends on several inputs is decided.
  // What none of them defines, the caller may add.
  std::vector<InputRecordRef> inputs = WithoutRepeatedArchives(records);
  AssembledPtx assembled(inputs, options, context);
  Selection selection = SelectDefined(inputs, options, context, assembled);
  Append(std::move(selection.diagnostics), out.diagnostics);
  DEVLINK_RETURN_IF_ERROR(base::CheckStop(stop));
  DEVLINK_RETURN_IF_ERROR(selection.status);
  out.inputs_accepted = !AnyError(out.diagnostics);
  Register(selection, /*left_out_runtime=*/false, out);
  if (options.end_at_rejected_input && AnyError(out.diagnostics)) {
    return absl::FailedPreconditionError("an input is in error; the diagnostics say why");
  }
  if (options.check_only && !options.lto.enabled) {
    if (options.dot_call_graph) out.call_graph_dot = CallGraphDot();
    return absl::OkStatus();
  }

  // Beyond this point no input joins or leaves, but for what compilers make of those here.
  absl::Status linked = LinkSelected(selection, options, context, stop, results);
  if (!linked.ok()) AdviseOnNames(inputs, out.diagnostics);
  if (!linked.ok() || options.verbose) NoteUselessInputs(inputs, out.diagnostics);
  if (results.details != nullptr) DescribeInputs(inputs, selection, options, *results.details);
  return linked;
}

void KeepInputs(const LinkSet& set, const LinkContext& context) {
  std::uint32_t index = 0;
  for (const LinkInput& input : set.inputs) {
    context.Keep({.stage = LinkStage::kLinked,
                  .index = index++,
                  .name = input.name,
                  .bytes = input.module->bytes()});
  }
}

// What only one compilation of all LTO IR removes can make the link of its parts fail.
void NoteParts(std::vector<Diagnostic>& diagnostics) {
  diagnostics.push_back(format::MakeDiagnostic(
      Severity::kInfo, DiagnosticCode::kUsage, "", "",
      "the LTO IR was compiled in parts (--lto-partitions), of which each keeps what another might "
      "use and takes the registers that another was given; without parts the link may succeed"));
}

absl::Status LinkSelected(Selection& selection, const LinkOptions& options,
                          const LinkContext& context, const std::stop_token& stop,
                          const Results& results) {
  LinkOutcome& out = results.out;
  // 2. LTO IR becomes PTX, and that becomes cubins.
  LtoResult made;
  if (options.lto.enabled) {
    made = CompileLto(selection.lto, options, context);
    std::move(made.runs.begin(), made.runs.end(), std::back_inserter(out.compiler_runs));
    Append(std::move(made.diagnostics), out.diagnostics);
    DEVLINK_RETURN_IF_ERROR(made.status);
    if (options.lto.emit_ptx && selection.lto.worth_compiling) {
      for (const LtoPiece& piece : made.pieces) out.ptx += piece.ptx;
      out.report.output_bytes = out.ptx.size();
      return absl::OkStatus();
    }
    if (made.is_whole_program) {
      out.is_whole_program = true;
      Register(selection, /*left_out_runtime=*/true, out);
      if (auto fatal = MissesRuntime(selection.lto, options)) {
        out.diagnostics.push_back(*std::move(fatal));
      } else if (options.dot_call_graph) {
        // nvlink has no graph of its own then, and writes an empty one.
        out.call_graph_dot = CallGraphDot();
      }
      return WriteWholeProgram(std::move(made.pieces.front().cubin), selection.lto, results);
    }
  }
  if (options.lto.enabled && IsInParts(selection.lto, options)) {
    return LinkCubins(selection, std::move(made.pieces), OptionsForParts(selection.lto, options),
                      context, stop, results);
  }
  return LinkCubins(selection, std::move(made.pieces), options, context, stop, results);
}

absl::Status LinkCubins(Selection& selection, std::vector<LtoPiece> pieces,
                        const LinkOptions& options, const LinkContext& context,
                        const std::stop_token& stop, const Results& results) {
  LinkOutcome& out = results.out;
  // 3. There are only cubins now; they get their places.
  LinkSet set = InLinkOrder(std::move(selection.modules), std::move(selection.references),
                            selection.lto, std::move(pieces), options, context);
  Append(std::move(set.diagnostics), out.diagnostics);
  DEVLINK_RETURN_IF_ERROR(set.status);
  KeepInputs(set, context);
  if (set.left_out_runtime) {
    Register(selection, /*left_out_runtime=*/true, out);
    out.dropped_device_runtime = true;
  }
  DEVLINK_RETURN_IF_ERROR(CheckOptionsOfTarget(options, out.diagnostics));
  if (absl::Status target = CheckTarget(options.target); !target.ok()) {
    return Unsupported(base::FromAbsl(target.message()),
                       "only whole programs made by link-time optimization are", out.diagnostics);
  }

  // Beyond this point the order of the inputs is settled, and none is looked at but by the merge.

  // The link itself: the program, the passes, the description of the output; then its bytes.
  DEVLINK_RETURN_IF_ERROR(base::CheckStop(stop));
  context.Report(LinkPhase::kLinking);
  auto linked = LinkProgram(set, options, context, results);
  if (!linked.ok()) {
    const bool of_parts = options.lto.enabled && IsInParts(selection.lto, options);
    if (of_parts && !absl::IsCancelled(linked.status())) NoteParts(out.diagnostics);
    return linked.status();
  }
  LinkedProgram program = *std::move(linked);
  // From here on the inputs count for their Mercury views, and for the finalizer.
  std::vector<LinkInput> read;  // from which the program borrows
  if (format::HasTwoViews(options.target.number)) {
    DEVLINK_ASSIGN_OR_RETURN(SoundInputs sound,
                             WithoutStaleTables(set.inputs, options, program.passed.passes->program,
                                                program.passed.maps, out.diagnostics));
    read = std::exchange(set.inputs, std::move(sound.inputs));
    program.lost_table = std::move(sound.lost);
    DEVLINK_ASSIGN_OR_RETURN(const bool written,
                             WriteFinalized(program, set, options, context, results));
    if (written) return absl::OkStatus();
    DEVLINK_RETURN_IF_ERROR(CheckCode(*program.passed.passes, set, options, out.diagnostics));
  }
  DEVLINK_ASSIGN_OR_RETURN(CubinDescription cubin,
                           DescribeExpected(std::move(program), set, options, context, results));
  return WriteCubin(std::move(cubin), options, context, results);
}

}  // namespace

LinkOutcome RunLink(std::span<const InputRecordRef> records, const LinkOptions& options,
                    const LinkContext& context, OutputSink* output) {
  const TimeSpan span(context.time_trace, "link");
  LinkOutcome out;
  LinkContext of_link = context;
  of_link.compiler_runs = &out.compiler_runs;
  std::shared_ptr<LinkDetails> details;
  if (options.details) details = std::make_shared<LinkDetails>();
  out.status = Run(records, options, of_link, {out, details.get(), output});
  out.report.details = std::move(details);
  PutInWords(options, out.diagnostics);
  return out;
}

absl::Status CheckTarget(Arch target) {
  if (IsLinkTarget(target)) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("'", target.Name(),
                                               "' is not among the targets of this release, sm_75 "
                                               "to sm_121f"));
}

void PutInWords(const LinkOptions& options, std::vector<Diagnostic>& diagnostics) {
  if (options.compatibility == Compatibility::kNvlink) {
    for (Diagnostic& diagnostic : diagnostics) diagnostic.notes.clear();
    std::erase_if(diagnostics, [](const Diagnostic& said) { return said.text.empty(); });
  }
  if (!options.report_arch) return;
  const std::string suffix = base::Cat({" (target: ", TargetName(options), ")"});
  for (Diagnostic& diagnostic : diagnostics) {
    if (!diagnostic.verbatim && !diagnostic.text.empty()) diagnostic.text += suffix;
  }
}

}  // namespace devlink::internal
