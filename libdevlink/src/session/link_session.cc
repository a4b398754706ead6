// SPDX-License-Identifier: Apache-2.0
//
// The story of a link. `RunPasses` names every pass in order; each takes what the passes before it
// found and returns a value of its own, which no later pass changes.
#include "devlink/link_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/make_diagnostic.h"
#include "image/emit.h"
#include "input/admission.h"
#include "link/attributes.h"
#include "link/call_graph.h"
#include "link/check.h"
#include "link/constant_layout.h"
#include "link/liveness.h"
#include "link/pass_results.h"
#include "link/relocate.h"
#include "link/relocate_partial.h"
#include "link/resources.h"
#include "link/shared_layout.h"
#include "link/shared_partial.h"
#include "link/texture_layout.h"
#include "merge/merge.h"
#include "model/kernel_selection.h"
#include "model/module.h"
#include "report/report.h"
#include "session/session_state.h"

namespace devlink {

using internal::LinkInput;

namespace {

bool NamesWhatIsUsed(const LinkOptions& options) {
  return !options.kernels_used.empty() || !options.variables_used.empty();
}

internal::KernelSelection SelectKernels(const LinkOptions& options,
                                        const std::vector<HostReferences>& references,
                                        bool known_before) {
  if (options.debug) return {};  // every kernel stays, whatever is named
  if (NamesWhatIsUsed(options)) return internal::KernelSelection::Containing(options.kernels_used);
  if (options.host_info == HostInfo::kIgnore) return {};
  return internal::KernelSelection::ReferredTo(references, known_before);
}

absl::Status NotALinkTarget(Arch target) {
  return absl::UnimplementedError(absl::StrCat("'", target.Name(),
                                               "' is not among the targets of this release, sm_75 "
                                               "to sm_90a"));
}

}  // namespace

LinkSession::LinkSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
LinkSession::LinkSession(LinkSession&&) noexcept = default;
LinkSession& LinkSession::operator=(LinkSession&&) noexcept = default;
LinkSession::~LinkSession() = default;

absl::StatusOr<LinkSession> LinkSession::Create(LinkOptions options,
                                                std::shared_ptr<ModulePool> pool, LogSink* log,
                                                ProgressSink* progress) {
  // A whole program that comes out of LTO needs no linking.
  if (!IsLinkTarget(options.target) && !options.lto.enabled) return NotALinkTarget(options.target);
  if (options.recorded_options.empty()) {
    options.recorded_options =
        base::Cat({options.debug ? "-g  " : "", "-arch ", options.target.Name(), " ",
                   options.relocatable ? "-r  " : ""});
  }
  const auto is_empty = [](const std::string& name) { return name.empty(); };
  std::erase_if(options.kernels_used, is_empty);
  std::erase_if(options.variables_used, is_empty);
  const bool unused_host_info = options.host_info == HostInfo::kUse && NamesWhatIsUsed(options);
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->pool = pool != nullptr ? std::move(pool) : std::make_shared<ModulePool>();
  state->log = log;
  state->progress = progress;
  if (unused_host_info) {
    state->Say(format::MakeDiagnostic(
        Severity::kInfo, DiagnosticCode::kUsage, "",
        "ignore -use-host-info because -kernels-used or -variables-used is specified"));
  }
  if (state->options.lto.enabled) {
    std::vector<Diagnostic> found;
    CiccOptionBuilder(state->options.target)
        .EmitPtx(state->options.lto.emit_ptx)
        .SplitCompileExtended(state->options.lto.split_compile_extended)
        .CheckCommandLine(found);
    for (Diagnostic& diagnostic : found) state->Say(std::move(diagnostic));
  }
  return LinkSession(std::move(state));
}

absl::Status LinkSession::AddCubin(std::string_view name, std::span<const std::uint8_t> bytes,
                                   HostReferences references) {
  auto module = state_->pool->AddCubin(bytes);
  if (module.ok()) {
    return state_->Add(std::string(name), *std::move(module), std::move(references));
  }
  return state_->Refuse(
      internal::DescribeMalformed(std::string(name), bytes, bytes.size(), module.status()),
      absl::StatusCode::kInvalidArgument);
}

absl::Status LinkSession::AddCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                   HostReferences references) {
  return state_->TakeCubin(std::string(name), std::move(bytes), std::move(references));
}

absl::Status LinkSession::AddModule(std::string_view name, ModuleRef module,
                                    HostReferences references) {
  if (module == nullptr) return absl::InvalidArgumentError("no module");
  return state_->Add(std::string(name), std::move(module), std::move(references));
}

void LinkSession::AddHostReferences(HostReferences references) {
  state_->set.references.push_back(std::move(references));
}

absl::StatusOr<LinkResult> LinkSession::Link() { return state_->Link(nullptr); }

absl::StatusOr<LinkResult> LinkSession::LinkTo(OutputSink& output) { return state_->Link(&output); }

absl::StatusOr<LinkResult> LinkSession::State::Link(OutputSink* output) {
  DEVLINK_RETURN_IF_ERROR(AssemblePending());
  if (options.check_only && !options.lto.enabled) return LinkResult();
  if (options.lto.enabled) return LinkWithLto(output);
  return LinkAll(LeavesOutPrelinked() ? LeaveOutPrelinked() : set, output);
}

absl::StatusOr<LinkResult> LinkSession::State::LinkAll(const LinkSet& all, OutputSink* output) {
  if (!IsLinkTarget(options.target)) {
    absl::Status status = NotALinkTarget(options.target);
    Say(format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUnsupportedFeature, "",
                               std::string(base::FromAbsl(status.message())),
                               "only whole programs made by link-time optimization are"));
    return status;
  }
  Report(LinkPhase::kLinking);
  std::vector<Diagnostic> found;
  auto result = Run(all, output, found);
  for (Diagnostic& diagnostic : found) Say(std::move(diagnostic));
  return result;
}

absl::StatusOr<LinkResult> LinkSession::State::Run(const LinkSet& all, OutputSink* output,
                                                   std::vector<Diagnostic>& found) const {
  LinkResult result;
  DEVLINK_ASSIGN_OR_RETURN(internal::Image image, RunPasses(all, found, result.report));
  // What the passes found is gone by now.
  if (options.before_output) options.before_output();
  Report(LinkPhase::kWriting);
  auto size = image.writer.LayOut();
  if (!size.ok()) {
    Diagnostic& failure = found.emplace_back(
        format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput, "",
                               absl::StrCat("Internal error: ", size.status().message())));
    for (const LinkInput& input : all.inputs) {
      if (failure.notes.size() == 8) break;
      failure.notes.push_back(
          base::Cat({"one of the inputs is damaged, perhaps '", input.name, "'"}));
    }
    return size.status();
  }
  if (output != nullptr) {
    DEVLINK_RETURN_IF_ERROR(image.writer.WriteTo(*output));
  } else {
    DEVLINK_ASSIGN_OR_RETURN(result.cubin, image.writer.Write());
  }
  result.report.output_bytes = *size;
  Log(absl::StrCat("wrote ", *size, " bytes"));
  return result;
}

absl::StatusOr<internal::Image> LinkSession::State::RunPasses(const LinkSet& all,
                                                              std::vector<Diagnostic>& found,
                                                              LinkReport& report) const {
  using namespace internal;  // NOLINT: the passes

  // 1. All inputs become one program; names and creation order are settled.
  const KernelSelection kernels =
      SelectKernels(options, all.references, all.references_known_before);
  DEVLINK_ASSIGN_OR_RETURN(Program program,
                           Merge(all.inputs,
                                 {.sm = options.target.number,
                                  .architecture_specific = options.target.variant == 'a',
                                  .profile = options.profile,
                                  .kernels = kernels,
                                  .relocatable = options.relocatable},
                                 found));
  Log(absl::StrCat("merged ", all.inputs.size(), " inputs: ", program.functions.size(),
                   " functions, ", program.sections.size(), " sections"));

  if (options.relocatable) return RunRelocatablePasses(all, std::move(program), found, report);

  // 2. and 3. Who calls whom, and who stays.
  CallGraph graph(program);
  Liveness liveness = FindLiveFunctions(program, graph, options.debug, kernels);

  // 4. to 6. Where variables and constants lie; from here on the layout of memory is fixed.
  const std::uint64_t reserved = options.target.number >= 90 ? 0x400 : 0;
  SharedLayout shared =
      LayOutShared(program, graph, liveness, {.reserved = reserved, .debug = options.debug});
  ConstantLayout constants = LayOutConstants(program, graph, liveness);
  TextureLayout textures = LayOutTextures(program, graph, liveness);

  // 7. and 8. What travels along calls.
  Resources resources = PropagateResources(program, graph, liveness);
  Attributes attributes = PropagateAttributes(program, graph, liveness);

  // 9. Relocations are resolved or kept for the loader.
  Relocated relocated = Relocate(program, liveness, shared, constants, textures);
  PassResults passes{std::move(program),   std::move(graph),      std::move(liveness),
                     std::move(shared),    std::move(constants),  std::move(textures),
                     std::move(resources), std::move(attributes), std::move(relocated)};

  // 10. Nothing is written for a program that cannot run.
  report = MakeReport(passes, all.inputs);
  const absl::Status sound =
      CheckProgram({all.inputs, passes.program, passes.graph, passes.liveness, passes.shared,
                    passes.constants, passes.resources, passes.relocated},
                   options, found);
  if (options.verbose) {
    for (Diagnostic& line : DescribeUsage(passes, report)) found.push_back(std::move(line));
  }
  DEVLINK_RETURN_IF_ERROR(sound);

  // 11. The output, described.
  return DescribeExecutable(std::move(passes), options);
}

// What is left of the passes where the result is to be linked again: nothing is left out, nothing
// is laid out, nothing travels along calls.
absl::StatusOr<internal::Image> LinkSession::State::RunRelocatablePasses(
    const LinkSet& all, internal::Program&& program, std::vector<Diagnostic>& found,
    LinkReport& report) const {
  using namespace internal;  // NOLINT: the passes
  CallGraph graph(program);
  Liveness liveness = FindLiveFunctions(program, graph, /*keep_all=*/true);
  const PartialSharedLayout shared = LayOutSharedPartial(
      program, {.debug = options.debug, .place_external = !options.keep_references});
  Attributes attributes = KeepAttributes(program, graph, liveness);
  Relocated relocated =
      RelocatePartial(program, liveness, shared, {.keep_references = options.keep_references});
  // As far as the report needs them.
  SharedLayout sizes;
  Resources resources;
  for (const FunctionId entry : liveness.entries) {
    const Function& function = program.functions[entry];
    resources.entries.push_back({.registers = function.registers, .stack = 0});
    EntryShared& size = sizes.entries.emplace_back();
    if (function.shared == kNone) continue;
    const SharedSize& section = shared.sections.at(function.shared);
    size.emitted = section.emitted;
    size.size = section.size;
  }
  PassResults passes{std::move(program),   std::move(graph),      std::move(liveness),
                     std::move(sizes),     ConstantLayout(),      TextureLayout(),
                     std::move(resources), std::move(attributes), std::move(relocated)};
  report = MakeReport(passes, all.inputs);
  if (options.verbose) {
    for (Diagnostic& line : DescribeUsage(passes, report)) found.push_back(std::move(line));
  }
  if (auto warning = WarnOfEarlyReferences(passes.relocated)) found.push_back(*std::move(warning));
  return DescribeRelocatable(std::move(passes), shared, options);
}

const std::vector<Diagnostic>& LinkSession::diagnostics() const { return state_->diagnostics; }

}  // namespace devlink
