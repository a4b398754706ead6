// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/lto_step.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "devlink/experimental/option_consensus.h"

namespace devlink::nvjitlink {

namespace {

bool AnyProtected(std::span<const LtoInput> inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const LtoInput& input) { return input.is_protected; });
}

Result FailInNvvm(std::string_view error, std::string_view log, Logs& logs) {
  logs.Error(base::Cat({"ERROR in nvvmCompileProgram: ", error}));
  logs.ErrorText(log);
  return Result::kNvvmCompile;
}

absl::StatusOr<std::vector<std::string>> WordsForNvvm(LtoScope scope, const Options& options,
                                                      const ToolkitProfile& profile) {
  AgreedOptions agreed;
  agreed.line_info = options.line_info;
  // Variables go only where names of variables are given; nvlink lets them go with names of kernels
  // alone.
  std::vector<std::string> variables = options.variables_used;
  if (variables.empty() && !options.kernels_used.empty()) variables.emplace_back("*");
  NvvmVectorPolicy policy;
  policy.drops_arch_suffix = options.target.variant == 'f';  // nvlink of 13.0 drops 'a', too
  policy.debug_is_unoptimized = profile.lto_debug_is_unoptimized;
  auto words = CiccOptionBuilder(options.target, policy)
                   .Agreed(agreed)
                   .Scope(scope)
                   .Debug(options.debug)
                   .EmitPtx(options.ptx)
                   .MaxRegisters(options.max_registers)
                   .SplitCompile(options.split_compile)
                   .SplitCompileExtended(options.split_compile_extended)
                   .FastCompileLevel(options.fast_compile)
                   .KernelsUsed(options.kernels_used)
                   .VariablesUsed(std::move(variables))
                   .Build();
  if (!words.ok()) return words;
  words->insert(words->end(), options.nvvm_words.begin(), options.nvvm_words.end());
  return words;
}

// libNVVM's log and, right behind it, the name of the error are several findings, the way that
// nvlink says them; nvJitLink says the name first.
Result ReportFailure(const LtoOutput& output, Logs& logs) {
  constexpr std::string_view kErrorName = "NVVM_ERROR_";
  std::string said;
  for (const Diagnostic& finding : output.diagnostics) {
    if (finding.severity == Severity::kInfo) said += base::Cat({finding.text, "\n"});
  }
  if (!said.empty()) said.pop_back();
  const std::size_t at = said.rfind(kErrorName);
  if (at == std::string::npos) {
    logs.Error(base::FromAbsl(output.status.message()));
    return Result::kNvvmCompile;
  }
  const std::string error = said.substr(at);
  said.resize(at);
  return FailInNvvm(error, said, logs);
}

// What libNVVM makes of the modules with these words.
Result Compile(std::span<const LtoInput> inputs, std::vector<std::string> words,
               const Options& options, const Tools& tools, std::vector<std::string>& pieces,
               Logs& logs) {
  LtoJob job{.target = options.target,
             .arguments = std::move(words),
             .stop = tools.environment.StopToken()};
  for (const LtoInput& input : inputs) {
    job.modules.push_back({input.name, input.bytes, input.is_protected});
  }
  const auto compiler = tools.toolchain.CompilerOfLtoIr(AnyProtected(inputs), /*as_nvlink=*/false);
  if (!compiler.ok()) {
    logs.Error(base::FromAbsl(compiler.status().message()));
    return Result::kNvvmCompile;
  }
  LtoOutput output = (*compiler)->Compile(job);
  if (!output.status.ok()) return ReportFailure(output, logs);
  logs.Add(output.diagnostics);
  pieces = std::move(output.pieces);
  return Result::kSuccess;
}

Result CompileToPtx(std::span<const LtoInput> inputs, LtoScope scope, const Options& options,
                    const Tools& tools, std::vector<std::string>& pieces, Logs& logs) {
  if (inputs.empty()) return FailInNvvm("NVVM_ERROR_NO_MODULE_IN_PROGRAM", "", logs);
  auto words = WordsForNvvm(scope, options, tools.profile);
  if (!words.ok()) {
    logs.Error(base::FromAbsl(words.status().message()));
    return Result::kNvvmCompile;
  }
  return Compile(inputs, *std::move(words), options, tools, pieces, logs);
}

}  // namespace

LtoMade CompileLto(std::span<const LtoInput> inputs, LtoScope scope, const Options& options,
                   const Tools& tools, Logs& logs) {
  LtoMade out;
  std::vector<std::string> pieces;
  const std::uint64_t begin = tools.environment.NowNanoseconds();
  out.result = CompileToPtx(inputs, scope, options, tools, pieces, logs);
  if (out.result != Result::kSuccess) return out;
  if (options.time) {
    logs.Time("nvJitLinkComplete time to create PTX", tools.environment.NowNanoseconds() - begin);
  }
  out.has_ptx = true;
  if (options.ptx) {
    for (const std::string& piece : pieces) out.ptx += piece;
    return out;
  }
  out.is_whole = scope == LtoScope::kWhole && pieces.size() == 1;
  for (const std::string& piece : pieces) {
    out.result = AssemblePtx(kLtoPtxName, piece, out.is_whole, options, tools,
                             out.cubins.emplace_back(), logs);
    if (out.result != Result::kSuccess) return out;
  }
  return out;
}

Result LinkLtoIr(std::span<const LtoInput> inputs, const Options& options, const Tools& tools,
                 std::string& ltoir, Logs& logs) {
  if (AnyProtected(inputs)) {
    logs.Error(
        "linked LTO IR cannot be had of inputs in NVIDIA's protected form; compile them with "
        "`nvcc -dlto -Xfatbin --compress=false`");
    return Result::kInvalidInput;
  }
  std::vector<std::string> pieces;
  const Result made =
      Compile(inputs, {base::Cat({"-arch=", options.target.VirtualName()}), "-gen-lto"}, options,
              tools, pieces, logs);
  if (made != Result::kSuccess) return made;
  if (pieces.size() != 1) return Result::kInternal;
  ltoir = std::move(pieces.front());
  return Result::kSuccess;
}

}  // namespace devlink::nvjitlink
