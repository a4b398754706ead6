// SPDX-License-Identifier: Apache-2.0
#include "plan/assembler_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/strings.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"

namespace devlink::internal {

PtxasOptionBuilder AssemblerOptions(const LinkOptions& options, Arch target) {
  PtxasOptionBuilder builder(target);
  builder.Debug(options.debug && !options.suppress_debug_info)
      .MaxRegisters(options.max_registers)
      .StackProtector(options.stack_protector)
      .SplitCompile(options.split_compile);
  if (options.lto.enabled) {
    builder.FastCompileLevel(options.lto.fast_compile.value_or(FastCompile::kOff))
        .LimitNumbers(options.compatibility == Compatibility::kNvlink);
  }
  for (const std::string& words : options.xptxas) builder.Xptxas(words);
  return builder;
}

namespace {

// What another release's assembler makes need not be what nvlink of this one would have linked.
void NoteOtherRelease(const std::string& name, const PtxAssembler& assembler,
                      const LinkOptions& options, std::vector<Diagnostic>& diagnostics) {
  if (options.profile.IsReleaseOf(assembler.version())) return;
  diagnostics.push_back(format::MakeDiagnostic(
      Severity::kInfo, DiagnosticCode::kUsage, name, "",
      base::Cat({"the PTX of '", name, "' is assembled by ", assembler.name(), " ",
                 assembler.version(), ", and this link writes what CUDA ",
                 options.profile.ReleaseName(),
                 " writes: code and attributes may be others than that release's"})));
}

}  // namespace

absl::StatusOr<const PtxAssembler*> OpenAssembler(const std::string& name,
                                                  const LinkOptions& options,
                                                  const LinkContext& context,
                                                  std::vector<Diagnostic>& diagnostics) {
  auto assembler = context.toolchain.Assembler(options.profile);
  if (assembler.ok()) {
    NoteOtherRelease(name, **assembler, options, diagnostics);
    return assembler;
  }
  Diagnostic fatal = MakeAssemblyError(
      name, base::Cat({"'", name, "' is PTX, and there is nothing to assemble it with: ",
                       base::FromAbsl(assembler.status().message())}));
  fatal.code = DiagnosticCode::kUnsupportedInput;
  diagnostics.push_back(std::move(fatal));
  return assembler;
}

Diagnostic MakeAssemblyError(const std::string& input, std::string note) {
  return format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput, input,
                                std::string(format::nvlink_text::kFatbinaryError), std::move(note));
}

absl::Status TakeAssemblerLines(const std::string& input, std::string which, PtxResult& result,
                                std::vector<Diagnostic>& found) {
  const bool is_explained = std::ranges::any_of(result.diagnostics, [](const Diagnostic& line) {
    return line.severity == Severity::kError || line.severity == Severity::kFatal;
  });
  std::move(result.diagnostics.begin(), result.diagnostics.end(), std::back_inserter(found));
  if (result.status.ok()) return absl::OkStatus();
  Diagnostic fatal = MakeAssemblyError(input, std::move(which));
  if (!is_explained) fatal.notes.emplace_back(base::FromAbsl(result.status.message()));
  found.push_back(std::move(fatal));
  return result.status;
}

}  // namespace devlink::internal
