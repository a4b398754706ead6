// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/compilation_provider.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "assemble/ptx_log.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "cache/file_identity.h"
#include "devlink/experimental/ptxas_options.h"
#include "devlink/link_session.h"
#include "devlink/version.h"
#include "format/ptx_text.h"
#include "format/views.h"
#include "input/recognise.h"

namespace devlink {

namespace {

bool IsCubin(const CompilationInput& input) {
  return internal::IsCudaElf(internal::Recognise(input.bytes));
}

bool IsPtx(const CompilationInput& input) { return format::BeginsAsPtx(base::TextOf(input.bytes)); }

template <typename T>
void Append(std::vector<T>&& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Words that would make something else of the text than was asked for.
absl::Status CheckWord(std::string_view word) {
  constexpr std::array<std::string_view, 8> kOwn = {"-o", "--output-file",  "-arch", "--gpu-name",
                                                    "-c", "--compile-only", "-m",    "--machine"};
  const std::string_view name = word.substr(0, word.find('='));
  if (!word.empty() && std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      base::ToAbsl(base::Cat({"'", word,
                              "' is not an option to be given to the assembler: target "
                              "and output are the provider's"})));
}

absl::StatusOr<std::vector<std::string>> ArgumentsFor(Arch target, bool relocatable,
                                                      const CompilationOptions& options) {
  auto words = PtxasOptionBuilder(target)
                   .Debug(options.debug_info)
                   .MaxRegisters(options.max_registers)
                   .Relocatable(relocatable)
                   .Build();
  if (!words.ok()) return words;
  for (const std::string& word : options.assembler_options) {
    DEVLINK_RETURN_IF_ERROR(CheckWord(word));
  }
  if (!options.optimize) words->emplace_back("-O0");
  if (options.line_info) words->emplace_back("-lineinfo");
  words->insert(words->end(), options.assembler_options.begin(), options.assembler_options.end());
  return words;
}

absl::Status WithoutSpills(const std::vector<PtxFunctionUsage>& functions) {
  for (const PtxFunctionUsage& function : functions) {
    if (function.spill_store_bytes == 0 && function.spill_load_bytes == 0) continue;
    return absl::CancelledError(base::ToAbsl(
        base::Cat({"'", function.name, "' moves ", std::to_string(function.spill_store_bytes),
                   " bytes of its registers to memory, and the options forbid it"})));
  }
  return absl::OkStatus();
}

class Provider final : public CompilationProvider {
 public:
  explicit Provider(CompilationProviderOptions options) : options_(std::move(options)) {}

  [[nodiscard]] CompilationResult Compile(Arch target, std::string_view ptx,
                                          const CompilationOptions& options) const override {
    return CompileOne(target, ptx, /*relocatable=*/false, options);
  }

  [[nodiscard]] CompilationResult CompileToRelocatable(
      Arch target, std::string_view ptx, const CompilationOptions& options) const override {
    return CompileOne(target, ptx, /*relocatable=*/true, options);
  }

  [[nodiscard]] CompilationResult CompileAndLink(Arch target,
                                                 std::span<const CompilationInput> inputs,
                                                 const CompilationOptions& options) const override {
    CompilationResult out;
    out.status = base::Guard([&] { return Link(target, inputs, options, out); });
    return Settled(std::move(out));
  }

  [[nodiscard]] absl::StatusOr<PtxIsaVersion> LatestPtxIsa() const override {
    return base::Guard([&]() -> absl::StatusOr<PtxIsaVersion> {
      {
        const std::lock_guard lock(mutex_);
        if (latest_isa_) return *latest_isa_;
      }
      // Not under the lock: two that ask at once get the same answer.
      DEVLINK_ASSIGN_OR_RETURN(const PtxIsaVersion latest, AskForLatestIsa());
      const std::lock_guard lock(mutex_);
      latest_isa_ = latest;
      return latest;
    });
  }

  [[nodiscard]] CompilationCapabilities Capabilities() const override {
    CompilationCapabilities out;
    const auto assembler = Assembler();
    if (!assembler.ok()) return out;
    out.compiles = true;
    out.assembler = (*assembler)->name();
    out.assembler_version = (*assembler)->version();
    out.within_process = out.assembler != "ptxas";
    return out;
  }

  [[nodiscard]] absl::StatusOr<CacheKey> KeyOf(CompilationTask task, Arch target,
                                               std::span<const CompilationInput> inputs,
                                               const CompilationOptions& options) const override {
    return base::Guard([&] { return MakeKey(task, target, inputs, options); });
  }

 private:
  [[nodiscard]] const Environment& environment() const {
    return options_.environment != nullptr ? *options_.environment : Environment::Default();
  }

  [[nodiscard]] absl::StatusOr<const PtxAssembler*> Assembler() const {
    return base::Guard([&]() -> absl::StatusOr<const PtxAssembler*> {
      if (options_.toolchain != nullptr) return options_.toolchain->Assembler(options_.profile);
      return absl::NotFoundError("there is no assembler for PTX: the provider has no toolchain");
    });
  }

  // Which finalizer there is; empty for none.
  [[nodiscard]] std::string FinalizerText() const {
    if (options_.toolchain == nullptr) return {};
    const auto finalizer = options_.toolchain->Finalizer();
    if (!finalizer.ok()) return {};
    return base::Cat({(*finalizer)->name(), " ", (*finalizer)->version()});
  }

  // Nothing of a failed call is handed out but what there is to say.
  static CompilationResult Settled(CompilationResult&& result) {
    if (!result.ok()) result.cubin.clear();
    return std::move(result);
  }

  [[nodiscard]] CompilationResult CompileOne(Arch target, std::string_view ptx, bool relocatable,
                                             const CompilationOptions& options) const {
    CompilationResult out;
    out.status = base::Guard([&]() -> absl::Status {
      const CompilationInput input{.name = "ptx", .bytes = base::BytesOf(ptx)};
      DEVLINK_ASSIGN_OR_RETURN(auto cubins,
                               Assemble(target, std::span(&input, 1), relocatable, options, out));
      out.cubin = std::move(cubins.front());
      return absl::OkStatus();
    });
    return Settled(std::move(out));
  }

  // The cubins of all `texts`; what was found goes to `out`, of a failure too.
  absl::StatusOr<std::vector<std::vector<std::uint8_t>>> Assemble(
      Arch target, std::span<const CompilationInput> texts, bool relocatable,
      const CompilationOptions& options, CompilationResult& out) const {
    DEVLINK_ASSIGN_OR_RETURN(const PtxAssembler* assembler, Assembler());
    DEVLINK_ASSIGN_OR_RETURN(const auto arguments, ArgumentsFor(target, relocatable, options));
    std::vector<PtxJob> jobs;
    for (const CompilationInput& text : texts) {
      jobs.push_back({.name = text.name,
                      .text = base::TextOf(text.bytes),
                      .arguments = arguments,
                      .report_usage = true,
                      .stop = environment().StopToken()});
    }
    std::vector<PtxResult> results =
        AssembleAll(*assembler, jobs, options_.parallel, nullptr, environment());
    std::vector<std::vector<std::uint8_t>> cubins;
    for (PtxResult& result : results) {
      if (!result.status.ok()) {
        result.status = internal::WithItsCause(result.status, result.diagnostics);
      }
      Append(std::move(result.diagnostics), out.diagnostics);
      Append(std::move(result.functions), out.functions);
      DEVLINK_RETURN_IF_ERROR(result.status);
      cubins.push_back(std::move(result.cubin));
    }
    if (options.cancel_if_spilled) DEVLINK_RETURN_IF_ERROR(WithoutSpills(out.functions));
    return cubins;
  }

  absl::Status Link(Arch target, std::span<const CompilationInput> inputs,
                    const CompilationOptions& options, CompilationResult& out) const {
    if (inputs.empty()) return absl::OkStatus();
    std::vector<CompilationInput> texts;
    std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(texts), IsPtx);
    for (const CompilationInput& input : inputs) {
      // A session passes over it, as nvlink does.
      const internal::ContentKind kind = internal::Recognise(input.bytes);
      if (kind != internal::ContentKind::kUnknown && kind != internal::ContentKind::kEmpty)
        continue;
      return absl::InvalidArgumentError(base::ToAbsl(
          base::Cat({"'", input.name, "' is neither PTX nor any kind of file with device code"})));
    }
    std::vector<std::vector<std::uint8_t>> cubins;
    if (!texts.empty()) {
      DEVLINK_ASSIGN_OR_RETURN(cubins, Assemble(target, texts, /*relocatable=*/true, options, out));
    }
    LinkOptions link{.target = target, .profile = options_.profile};
    link.debug = options.debug_info;
    link.parallel = options_.parallel;
    link.end_at_rejected_input = true;
    DEVLINK_ASSIGN_OR_RETURN(
        LinkSession session,
        LinkSession::Create(std::move(link),
                            {.environment = &environment(), .toolchain = options_.toolchain}));
    auto compiled = cubins.begin();
    for (const CompilationInput& input : inputs) {
      // What is wrong with an input is the status of the link, in its place among the findings.
      if (IsPtx(input)) {
        session.AddCubin(input.name, std::move(*compiled++)).IgnoreError();
      } else if (IsCubin(input)) {
        session.AddCubin(input.name, input.bytes).IgnoreError();
      } else {
        session.AddView(input.name, input.bytes).IgnoreError();
      }
    }
    LinkOutcome outcome = session.Link();
    Append(std::move(outcome.diagnostics), out.diagnostics);
    out.cubin = std::move(outcome.cubin);
    return outcome.status;
  }

  // The assembler names its own version where a text is of a later one.
  absl::StatusOr<PtxIsaVersion> AskForLatestIsa() const {
    DEVLINK_ASSIGN_OR_RETURN(const PtxAssembler* assembler, Assembler());
    const Arch oldest{75};
    DEVLINK_ASSIGN_OR_RETURN(const auto arguments, ArgumentsFor(oldest, /*relocatable=*/true, {}));
    const PtxResult result =
        assembler->Assemble({.name = "version",
                             .text = ".version 99.9\n.target sm_75\n.address_size 64\n",
                             .arguments = arguments});
    if (const auto latest = internal::LatestPtxIsaIn(result.diagnostics)) {
      return PtxIsaVersion{latest->first, latest->second};
    }
    return absl::InternalError(base::ToAbsl(
        base::Cat({assembler->name(), " does not say which version of PTX it reads at most"})));
  }

  absl::Status AddAssembler(std::span<const CompilationInput> inputs,
                            CacheKeyBuilder& builder) const {
    // Of what is neither a cubin nor PTX, such as a fat binary, PTX may be a part.
    if (std::all_of(inputs.begin(), inputs.end(), IsCubin)) return absl::OkStatus();
    const auto assembler = Assembler();
    if (!assembler.ok()) {
      const bool needs_one = std::any_of(inputs.begin(), inputs.end(), IsPtx);
      return needs_one ? assembler.status() : absl::OkStatus();
    }
    // One that stands behind a cache knows its version once it was asked for something.
    DEVLINK_RETURN_IF_ERROR(LatestPtxIsa().status());
    builder.Text("assembler", (*assembler)->name()).Text("its version", (*assembler)->version());
    return absl::OkStatus();
  }

  absl::StatusOr<CacheKey> MakeKey(CompilationTask task, Arch target,
                                   std::span<const CompilationInput> inputs,
                                   const CompilationOptions& options) const {
    DEVLINK_ASSIGN_OR_RETURN(
        const auto arguments,
        ArgumentsFor(target, /*relocatable=*/task != CompilationTask::kCompile, options));
    if (internal::NameFiles(arguments)) {
      return absl::FailedPreconditionError(
          "an option of the assembler names a file, whose content no key covers");
    }
    CacheKeyBuilder builder("compilation");
    builder.Text("library", Version())
        .Text("version text", options_.profile.version_text)
        .Text("build text", options_.profile.build_text)
        .Number("task", static_cast<std::uint64_t>(task))
        .Texts("arguments", arguments)
        .Number("debug", options.debug_info ? 1 : 0)
        .Number("cancel if spilled", options.cancel_if_spilled ? 1 : 0);
    DEVLINK_RETURN_IF_ERROR(AddAssembler(inputs, builder));
    if (task == CompilationTask::kCompileAndLink && format::HasTwoViews(target.number)) {
      builder.Text("finalizer", FinalizerText());
    }
    for (const CompilationInput& input : inputs) builder.Bytes("input", input.bytes);
    return builder.Build();
  }

  const CompilationProviderOptions options_;
  mutable std::mutex mutex_;
  mutable std::optional<PtxIsaVersion> latest_isa_;  // behind mutex_
};

}  // namespace

std::unique_ptr<CompilationProvider> CreateCompilationProvider(CompilationProviderOptions options) {
  return std::make_unique<Provider>(std::move(options));
}

}  // namespace devlink
