// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/lto_step.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "devlink/experimental/cicc_option_builder.h"
#include "devlink/experimental/option_consensus.h"

namespace devlink::nvjitlink {

namespace {

Result FailInNvvm(std::string_view error, std::string_view log, Logs& logs) {
  logs.Error(base::Cat({"ERROR in nvvmCompileProgram: ", error}));
  if (!log.empty()) logs.ErrorText(base::Cat({log, log.ends_with('\n') ? "" : "\n"}));
  return Result::kNvvmCompile;
}

absl::StatusOr<std::vector<std::string>> WordsForNvvm(std::span<const LtoInput> inputs,
                                                      bool has_other_code, const Options& options,
                                                      const ToolkitProfile& profile) {
  OptionConsensus consensus;
  for (const LtoInput& input : inputs) {
    if (input.stored_options) consensus.Vote(input.name, *input.stored_options);
  }
  auto agreed = consensus.Resolve({.max_registers = options.max_registers});
  if (!agreed.ok()) return agreed.status();
  agreed->line_info = agreed->line_info || options.line_info;
  NvvmVectorPolicy policy;
  policy.drops_arch_suffix = profile.lto_drops_arch_suffix;
  policy.debug_is_unoptimized = profile.lto_debug_is_unoptimized;
  auto words = CiccOptionBuilder(options.target, policy)
                   .Agreed(*agreed)
                   .Scope(ScopeOf({.has_other_code = has_other_code}))
                   .Debug(options.debug)
                   .EmitPtx(options.ptx)
                   .MaxRegisters(options.max_registers)
                   .SplitCompile(options.split_compile)
                   .SplitCompileExtended(options.split_compile_extended)
                   .FastCompileLevel(options.fast_compile)
                   .KernelsUsed(options.kernels_used)
                   .VariablesUsed(options.variables_used)
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

Result CompileToPtx(std::span<const LtoInput> inputs, bool has_other_code, const Options& options,
                    const Tools& tools, std::vector<std::string>& pieces, Logs& logs) {
  if (inputs.empty()) return FailInNvvm("NVVM_ERROR_NO_MODULE_IN_PROGRAM", "", logs);
  LtoJob job{.target = options.target};
  bool needs_protected = false;
  for (const LtoInput& input : inputs) {
    job.modules.push_back({input.name, input.bytes, input.is_protected});
    needs_protected = needs_protected || input.is_protected;
  }
  auto words = WordsForNvvm(inputs, has_other_code, options, tools.profile);
  if (!words.ok()) {
    logs.Error(base::FromAbsl(words.status().message()));
    return Result::kNvvmCompile;
  }
  job.arguments = *std::move(words);
  const auto compiler = tools.toolchain.CompilerOfLtoIr(needs_protected, /*as_nvlink=*/false);
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

}  // namespace

LtoMade CompileLto(std::span<const LtoInput> inputs, bool has_other_code, const Options& options,
                   const Tools& tools, Logs& logs) {
  LtoMade out;
  std::vector<std::string> pieces;
  const std::uint64_t begin = tools.environment.NowNanoseconds();
  out.result = CompileToPtx(inputs, has_other_code, options, tools, pieces, logs);
  out.ptx_nanoseconds = tools.environment.NowNanoseconds() - begin;
  if (out.result != Result::kSuccess) return out;
  if (options.ptx) {
    for (const std::string& piece : pieces) out.ptx += piece;
    return out;
  }
  out.is_whole = !has_other_code && pieces.size() == 1;
  for (const std::string& piece : pieces) {
    out.result = AssemblePtx(kLtoPtxName, piece, out.is_whole, options, tools,
                             out.cubins.emplace_back(), logs);
    if (out.result != Result::kSuccess) return out;
  }
  return out;
}

}  // namespace devlink::nvjitlink
