// SPDX-License-Identifier: Apache-2.0
#include "plan/compile_lto.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "devlink/experimental/cicc_option_builder.h"
#include "devlink/experimental/nvvm_pass_options.h"
#include "devlink/experimental/nvvm_program.h"
#include "devlink/experimental/option_consensus.h"
#include "format/driver_names.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "lto/lto_messages.h"
#include "plan/assembler_lines.h"
#include "plan/lto_parts.h"
#include "plan/settings.h"
#include "plan/unresolved_names.h"

namespace devlink::internal {

namespace {

// What the functions of the device runtime are called.
constexpr std::string_view kRuntimePrefix = "__cudaCDP2";

// How one attempt goes beyond what nvlink does.
struct Choices {
  bool with_runtime = false;      // the device runtime counts, although nvlink would not open it
  bool keep_arch_suffix = false;  // CiccOptionBuilder::KeepArchSuffix
};

struct Attempt : LtoResult {
  bool suffix_may_help = false;  // CiccOptionBuilder::NeedsSecondAttempt
};

NvvmVectorPolicy PolicyOf(const LinkOptions& options) {
  NvvmVectorPolicy policy = options.compatibility == Compatibility::kNvlink
                                ? NvvmVectorPolicy::Nvlink()
                                : NvvmVectorPolicy{};
  policy.drops_arch_suffix = options.profile.lto_drops_arch_suffix;
  policy.debug_is_unoptimized = options.profile.lto_debug_is_unoptimized;
  return policy;
}

// A part of the modules is compiled as what has other code beside it.
LtoLinkShape ShapeOf(const LtoSelection& lto, const LinkOptions& options, bool has_runtime) {
  return {.relocatable_link = options.relocatable,
          .force_partial = options.lto.force_partial,
          .force_whole = options.lto.force_whole,
          .has_other_code = lto.partial || IsInParts(lto, options),
          .has_device_runtime = has_runtime};
}

std::vector<std::string> TextsOf(const std::vector<LtoPiece>& pieces) {
  std::vector<std::string> out;
  out.reserve(pieces.size());
  for (const LtoPiece& piece : pieces) out.push_back(piece.ptx);
  return out;
}

class LtoStep {
 public:
  LtoStep(const LtoSelection& lto, const LinkOptions& options, const LinkContext& context)
      : lto_(lto), options_(options), context_(context) {}

  LtoResult Run();

 private:
  // The modules and the words for them; what the modules cannot agree on ends the attempt.
  absl::Status Prepare(const Choices& choices, CiccOptionBuilder& builder, LtoJob& job,
                       std::vector<Diagnostic>& found) const;
  void Describe(const Choices& choices, const AgreedOptions& agreed,
                CiccOptionBuilder& builder) const;
  absl::Status Assemble(const CiccOptionBuilder& how, Attempt& out) const;
  // To whoever looks at what a link has in hand.
  void Keep(const LtoJob& job) const;
  void Keep(const std::vector<LtoPiece>& pieces, std::string_view tool = {},
            const std::vector<std::string>& arguments = {}) const;
  // What the compiler made of the parts, up to the first that failed.
  static void Take(std::vector<CompiledPart> compiled, const std::vector<LtoJob>& parts,
                   Attempt& out);
  [[nodiscard]] Attempt Try(const Choices& choices) const;
  // Tries what nvlink does; where that loses or fails a link that could succeed, once more with
  // what nvlink leaves out: a device runtime that no host object precedes, the suffix of sm_90a.
  [[nodiscard]] Attempt TryAll() const;

  const LtoSelection& lto_;
  const LinkOptions& options_;
  const LinkContext& context_;
  const LtoCompiler* compiler_ = nullptr;
};

void LtoStep::Describe(const Choices& choices, const AgreedOptions& agreed,
                       CiccOptionBuilder& builder) const {
  builder.Agreed(agreed)
      .Scope(ScopeOf(ShapeOf(lto_, options_, choices.with_runtime)))
      .KeepArchSuffix(choices.keep_arch_suffix)
      .Debug(options_.debug && !options_.suppress_debug_info)
      .EmitPtx(options_.lto.emit_ptx)
      .MaxRegisters(options_.max_registers)
      .SplitCompile(options_.split_compile)
      .SplitCompileExtended(options_.lto.split_compile_extended)
      .FastCompileLevel(options_.lto.fast_compile)
      .IgnoreHostInfo(options_.host_info == HostInfo::kIgnore)
      .KernelsUsed(options_.kernels_used)
      .VariablesUsed(options_.variables_used);
  for (const std::string& words : options_.lto.xnvvm) builder.Xnvvm(words);
  for (const LtoHostObject& object : lto_.host_objects) {
    if (!object.seen_by_nvlink && !choices.with_runtime) continue;
    builder.AddHostReferences(object.references, object.is_device_runtime);
  }
}

absl::Status LtoStep::Prepare(const Choices& choices, CiccOptionBuilder& builder, LtoJob& job,
                              std::vector<Diagnostic>& found) const {
  job.target = options_.target;
  OptionConsensus consensus;
  for (const auto* list : {&lto_.modules, &lto_.runtime_modules}) {
    for (const SelectedIr& module : *list) {
      job.modules.push_back({module.name, module.code->bytes, module.code->is_protected});
      const auto& stored = module.code->options;
      if (stored) consensus.Vote(module.name, *stored);
    }
  }
  DEVLINK_ASSIGN_OR_RETURN(const AgreedOptions agreed,
                           consensus.Resolve({.max_registers = options_.max_registers}, &found));
  Describe(choices, agreed, builder);
  DEVLINK_ASSIGN_OR_RETURN(job.arguments, builder.Build(&found));
  if (options_.compatibility == Compatibility::kNvlink) return absl::OkStatus();
  // libNVVM passes over a knob that it does not know, and ends the process for some words.
  std::vector<std::string> others;
  absl::Status knobs =
      NvvmPassOptions::Parse(job.arguments, NvvmGenerationOf(options_.target), &others).status();
  if (!knobs.ok()) {
    found.push_back(
        internal::LtoFatal(internal::kCompilationFailed, base::FromAbsl(knobs.message())));
  }
  return knobs;
}

void LtoStep::Keep(const LtoJob& job) const {
  std::uint32_t index = 0;
  for (const LtoModule& module : job.modules) {
    context_.Keep({.stage = LinkStage::kLtoIr,
                   .index = index++,
                   .name = module.name,
                   .bytes = module.bytes,
                   .is_fat_binary = module.is_protected,
                   .tool = compiler_->name(),
                   .arguments = job.arguments});
  }
}

void LtoStep::Keep(const std::vector<LtoPiece>& pieces, std::string_view tool,
                   const std::vector<std::string>& arguments) const {
  std::uint32_t index = 0;
  for (const LtoPiece& piece : pieces) {
    context_.Keep({.stage = LinkStage::kLtoPtx,
                   .index = index++,
                   .name = piece.name,
                   .bytes = base::BytesOf(piece.ptx),
                   .tool = tool,
                   .arguments = arguments});
  }
}

absl::Status LtoStep::Assemble(const CiccOptionBuilder& how, Attempt& out) const {
  auto opened = OpenAssembler(kLtoResultName, options_, context_, out.diagnostics);
  if (!opened.ok()) {
    Keep(out.pieces);
    return opened.status();
  }
  const PtxAssembler* assembler = *opened;
  DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::string> arguments,
                           internal::AssemblerOptions(options_, how.AssemblerTarget())
                               .LinkTimeOptimized(true)
                               .KeepBlocks(options_.profile.lto_debug_is_unoptimized)
                               .Relocatable(!out.is_whole_program)
                               .MaxRegisters(how.MaxRegistersInForce())
                               .SplitCompile(how.Split().assembler)
                               .Build(&out.diagnostics));
  Keep(out.pieces, assembler->name(), arguments);
  std::vector<PtxJob> jobs;
  jobs.reserve(out.pieces.size());
  for (const LtoPiece& piece : out.pieces) {
    jobs.push_back({.name = piece.name, .text = piece.ptx, .arguments = arguments});
  }
  const TimeSpan span(context_.time_trace, "assemble PTX");
  CompilerRun assembly{
      .compiler = "ptxas", .source = "lto.ptx", .input = {}, .output = kLtoResultName};
  std::uint32_t index = 0;
  for (PtxResult& result :
       AssembleAll(*assembler, jobs, options_.parallel, context_.progress, context_.environment)) {
    LtoPiece& piece = out.pieces[index];
    if (!result.status.ok()) ExplainUnresolved(TextsOf(out.pieces), result.diagnostics);
    DEVLINK_RETURN_IF_ERROR(internal::TakeAssemblerLines(
        piece.name,
        base::Cat({"the PTX is what became of the LTO IR",
                   piece.name == kLtoResultName ? "" : base::Cat({" of '", piece.name, "'"})}),
        result, out.diagnostics));
    context_.Keep({.stage = LinkStage::kLtoCubin,
                   .index = index++,
                   .name = piece.name,
                   .bytes = result.cubin});
    piece.cubin = std::move(result.cubin);
    assembly.time += result.time;
  }
  out.runs.push_back(std::move(assembly));
  return absl::OkStatus();
}

// Of what a compiler says, which names no input.
Diagnostic InPart(const std::string& name) {
  return format::MakeDiagnostic(Severity::kInfo, DiagnosticCode::kUsage, name, "",
                                base::Cat({"this is of the part '", name, "'"}));
}

void LtoStep::Take(std::vector<CompiledPart> compiled, const std::vector<LtoJob>& parts,
                   Attempt& out) {
  for (std::size_t part = 0; part < compiled.size(); ++part) {
    auto& [output, time] = compiled[part];
    std::move(output.diagnostics.begin(), output.diagnostics.end(),
              std::back_inserter(out.diagnostics));
    out.status = std::move(output.status);
    if (!out.status.ok()) {
      if (parts.size() > 1 && !absl::IsCancelled(out.status)) {
        out.diagnostics.push_back(InPart(NameOfPart(parts[part], parts.size())));
      }
      return;
    }
    out.runs.push_back(
        {.compiler = "cicc", .source = "lto.nvvm", .input = {}, .output = "lto.ptx", .time = time});
    out.is_whole_program = output.whole_program;
    for (std::string& text : output.pieces) {
      out.pieces.push_back({.name = NameOfPart(parts[part], parts.size()), .ptx = std::move(text)});
    }
  }
}

Attempt LtoStep::Try(const Choices& choices) const {
  Attempt out;
  out.status = base::CheckStop(context_.environment.StopToken());
  if (!out.status.ok()) return out;
  CiccOptionBuilder builder(options_.target, PolicyOf(options_));
  LtoJob job;
  out.status = Prepare(choices, builder, job, out.diagnostics);
  if (!out.status.ok()) return out;
  out.suffix_may_help = builder.NeedsSecondAttempt();
  job.stop = context_.environment.StopToken();
  const std::vector<LtoJob> parts =
      IsInParts(lto_, options_) ? CutIntoParts(job, options_.lto.partitions) : std::vector{job};
  context_.Log([&] {
    return absl::StrCat("compiling ", job.modules.size(), " LTO modules with ",
                        base::ToAbsl(compiler_->name()),
                        parts.size() > 1 ? absl::StrCat(" in ", parts.size(), " parts") : "", ": ",
                        absl::StrJoin(job.arguments, " "));
  });
  Keep(job);
  Take(CompileParts(*compiler_, parts, options_.parallel, context_), parts, out);
  if (!out.status.ok()) return out;
  const int code = out.is_whole_program ? kNvvmWholeProgram : kNvvmSuccess;
  out.is_whole_program = ResultIsWholeProgram(ShapeOf(lto_, options_, choices.with_runtime), code,
                                              static_cast<int>(out.pieces.size()));
  if (options_.lto.emit_ptx) {
    Keep(out.pieces);
  } else {
    out.status = Assemble(builder, out);
  }
  return out;
}

Attempt LtoStep::TryAll() const {
  Choices choices;
  choices.with_runtime = std::any_of(lto_.runtime.begin(), lto_.runtime.end(),
                                     [](const HeldRuntime& held) { return held.seen_by_nvlink; });
  Attempt attempt = Try(choices);
  const bool may_improve = options_.compatibility == Compatibility::kDevlink;
  const bool calls_runtime = attempt.is_whole_program && !attempt.pieces.empty() &&
                             attempt.pieces.front().ptx.find(kRuntimePrefix) != std::string::npos;
  if (may_improve && !choices.with_runtime && !lto_.runtime.empty() && calls_runtime) {
    context_.Log([] { return "the program calls the device runtime: compiling again"; });
    choices.with_runtime = true;
    attempt = Try(choices);
  }
  if (!attempt.status.ok() && attempt.suffix_may_help) {
    context_.Log([] { return "perhaps the code is for one architecture only: compiling again"; });
    choices.keep_arch_suffix = true;
    if (Attempt second = Try(choices); second.status.ok()) attempt = std::move(second);
  }
  return attempt;
}

LtoResult LtoStep::Run() {
  const auto is_protected = [](const SelectedIr& module) { return module.code->is_protected; };
  const bool needs_protected =
      std::any_of(lto_.modules.begin(), lto_.modules.end(), is_protected) ||
      std::any_of(lto_.runtime_modules.begin(), lto_.runtime_modules.end(), is_protected);
  // nvlink knows libNVVM only.
  auto opened = context_.toolchain.CompilerOfLtoIr(
      needs_protected, options_.compatibility == Compatibility::kNvlink);
  if (!opened.ok()) {
    LtoResult out;
    out.status = opened.status();
    out.diagnostics.push_back(LtoFatal(kLibraryFailed, base::FromAbsl(out.status.message())));
    return out;
  }
  compiler_ = *opened;
  return TryAll();
}

// Nothing was LTO IR: nvlink warns, and the link is one without LTO.
LtoResult WarnOfNoLto(const LinkOptions& options) {
  const std::string text(format::nvlink_text::kIgnoringDlto);
  LtoResult out;
  const auto severity = SeverityPolicyOf(options).Judge(Severity::kWarning);
  if (!severity) return out;
  out.diagnostics.push_back(format::MakeDiagnostic(*severity, DiagnosticCode::kUsage, "", text));
  if (*severity != Severity::kError) return out;
  out.diagnostics.push_back(format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMergeFailed,
                                                   "",
                                                   std::string(format::nvlink_text::kMergeFailed)));
  out.status = absl::FailedPreconditionError(text);
  return out;
}

}  // namespace

LtoResult CompileLto(const LtoSelection& lto, const LinkOptions& options,
                     const LinkContext& context) {
  if (!lto.worth_compiling) return WarnOfNoLto(options);
  return LtoStep(lto, options, context).Run();
}

std::optional<Diagnostic> MissesRuntime(const LtoSelection& lto, const LinkOptions& options) {
  if (options.compatibility != Compatibility::kNvlink || lto.last_host_object.empty() ||
      lto.last_host_object.find(format::kDeviceRuntimeName) != std::string::npos) {
    return std::nullopt;
  }
  return format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUsage, lto.last_host_object,
                                std::string(format::nvlink_text::kExpectedRuntime));
}

bool IsInParts(const LtoSelection& lto, const LinkOptions& options) {
  return options.lto.partitions > 1 && lto.modules.size() + lto.runtime_modules.size() > 1;
}

LinkOptions OptionsForParts(const LtoSelection& lto, const LinkOptions& options) {
  LinkOptions out = options;
  const bool named_to_compiler = !IsPartialLto({.partial = lto.partial}, options);
  if (named_to_compiler && options.kernels_used.empty() && !options.variables_used.empty()) {
    out.variables_used.clear();
    out.host_info = HostInfo::kIgnore;
  }
  return out;
}

bool IsPartialLto(const LtoSelection& lto, const LinkOptions& options) {
  return ScopeOf(ShapeOf(lto, options, false)) == LtoScope::kPartial;
}

}  // namespace devlink::internal
