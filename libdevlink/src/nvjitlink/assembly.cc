// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/assembly.h"

#include <string>
#include <utility>

#include "base/strings.h"

namespace devlink::nvjitlink {

namespace {

Result Refuse(std::string_view name, Logs& logs) {
  logs.Error(base::Cat({"ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (", name, ")"}));
  return Result::kPtxCompile;
}

}  // namespace

Result AssemblePtx(std::string_view name, std::string_view text, bool is_whole,
                   const Options& options, const Tools& tools, std::vector<std::uint8_t>& cubin,
                   Logs& logs) {
  const auto assembler = tools.toolchain.Assembler(tools.profile);
  if (!assembler.ok()) {
    logs.Error(base::FromAbsl(assembler.status().message()));
    return Refuse(name, logs);
  }
  PtxJob job{.name = std::string(name), .text = text, .arguments = options.assembler_words};
  job.arguments.push_back(base::Cat({"-arch=", options.assembler_target}));
  if (!is_whole) job.arguments.emplace_back("-c");
  job.stop = tools.environment.StopToken();
  PtxResult made = (*assembler)->Assemble(job);
  logs.Add(made.diagnostics);
  if (made.status.ok()) {
    cubin = std::move(made.cubin);
    return Result::kSuccess;
  }
  if (made.diagnostics.empty()) logs.Error(base::FromAbsl(made.status.message()));
  return Refuse(name, logs);
}

}  // namespace devlink::nvjitlink
