// SPDX-License-Identifier: Apache-2.0
#include "plan/assembler_lines.h"

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

absl::StatusOr<const PtxAssembler*> OpenAssembler(const std::string& name,
                                                  const LinkOptions& options,
                                                  const LinkContext& context,
                                                  std::vector<Diagnostic>& diagnostics) {
  auto assembler = context.toolchain.Assembler(options.profile);
  if (assembler.ok()) return assembler;
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
  const bool silent = result.diagnostics.empty();
  std::move(result.diagnostics.begin(), result.diagnostics.end(), std::back_inserter(found));
  if (result.status.ok()) return absl::OkStatus();
  Diagnostic fatal = MakeAssemblyError(input, std::move(which));
  if (silent) fatal.notes.emplace_back(base::FromAbsl(result.status.message()));
  found.push_back(std::move(fatal));
  return result.status;
}

}  // namespace devlink::internal
