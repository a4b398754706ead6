// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/compile_worker.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assemble/backend.h"
#include "assemble/ptx_packing.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/strings.h"
#include "cache/compile_action.h"
#include "cache/file_identity.h"
#include "lto/executing_lto_compiler.h"
#include "lto/lto_backends.h"
#include "lto/lto_packing.h"

namespace devlink {

namespace {

using internal::ActionHead;
using internal::FieldReader;

absl::Status NotARequest() {
  return absl::InvalidArgumentError("these bytes are not a request to compile, or are damaged");
}

absl::Status Other(std::string_view what) {
  return absl::FailedPreconditionError(
      base::Cat({what, "; a worker has the same devlink, the same tool and the same environment"}));
}

// Whether this machine would make what the one that asks would have made.
absl::Status CheckHead(const ActionHead& head, const std::string& tool,
                       const std::vector<std::string>& environment,
                       const std::vector<std::string>& host_environment) {
  if (tool.empty()) {
    return absl::NotFoundError(base::Cat({"no path is given for ", head.tool_name}));
  }
  DEVLINK_ASSIGN_OR_RETURN(const ActionHead own,
                           internal::MakeActionHead(head.kind, head.tool_name, tool));
  if (head.devlink_version != own.devlink_version) {
    return Other(base::Cat(
        {"the request is of devlink ", head.devlink_version, ", this is ", own.devlink_version}));
  }
  if (head.tool_contents != own.tool_contents) {
    return Other(
        base::Cat({"'", tool, "' is another ", head.tool_name, " than the one asked for"}));
  }
  if (head.environment != environment || head.host_environment != host_environment) {
    return Other(base::Cat({head.tool_name, " would see other environment variables"}));
  }
  return absl::OkStatus();
}

absl::Status CheckWords(const std::vector<std::string>& words) {
  if (!internal::NameFiles(words)) return absl::OkStatus();
  return absl::FailedPreconditionError("an argument names a file of this machine");
}

absl::StatusOr<std::vector<std::uint8_t>> RunPtx(const ActionHead& head, FieldReader& reader,
                                                 const PtxBackendOptions& tools,
                                                 const std::stop_token& stop) {
  auto unpacked = internal::ReadPtxJob(reader);
  const internal::Way* way = internal::WayNamed(head.tool_name);
  if (!unpacked.has_value() || way == nullptr) return NotARequest();
  DEVLINK_RETURN_IF_ERROR(
      CheckHead(head, tools.*way->path, tools.environment, tools.host_environment));
  DEVLINK_RETURN_IF_ERROR(CheckWords(unpacked->job.arguments));
  PtxBackendOptions options = tools;
  options.backend = way->backend;
  options.executor = nullptr;
  options.profile.version_text = unpacked->version_text;
  options.profile.build_text = unpacked->build_text;
  DEVLINK_ASSIGN_OR_RETURN(const auto assembler, CreatePtxAssembler(options));
  unpacked->job.stop = stop;
  const PtxResult result = assembler->Assemble(unpacked->job);
  if (!internal::IsAnswer(result.status)) return result.status;
  return internal::PackPtxAnswer(unpacked->job, result);
}

absl::StatusOr<std::vector<std::uint8_t>> RunLto(const ActionHead& head, FieldReader& reader,
                                                 const LtoBackendOptions& tools,
                                                 const std::stop_token& stop) {
  auto job = internal::ReadLtoJob(reader);
  const bool is_nvvm = head.tool_name == internal::kNvvmName;
  if (!job.has_value() || (!is_nvvm && head.tool_name != internal::kNvJitLinkName)) {
    return NotARequest();
  }
  DEVLINK_RETURN_IF_ERROR(CheckHead(head, internal::FileOfLtoLibrary(tools, head.tool_name),
                                    head.environment, tools.host_environment));
  DEVLINK_RETURN_IF_ERROR(CheckWords(job->arguments));
  LtoBackendOptions options = tools;
  options.backend = is_nvvm ? LtoBackend::kNvvm : LtoBackend::kNvJitLink;
  options.executor = nullptr;
  DEVLINK_ASSIGN_OR_RETURN(const auto compiler, CreateLtoCompiler(options));
  job->stop = stop;
  const LtoOutput output = compiler->Compile(*job);
  if (!internal::IsAnswer(output.status)) return output.status;
  return internal::PackLtoAnswer(output);
}

}  // namespace

absl::StatusOr<ToolchainOptions> ToolsOfWorker(std::string_view tool_name, std::string tool_path) {
  return base::Guard([&]() -> absl::StatusOr<ToolchainOptions> {
    ToolchainOptions out;
    if (const internal::Way* way = internal::WayNamed(tool_name)) {
      out.ptx.*way->path = std::move(tool_path);
    } else if (tool_name == internal::kNvvmName) {
      out.lto.nvvm_path = std::move(tool_path);
    } else if (tool_name == internal::kNvJitLinkName) {
      out.lto.nvjitlink_path = std::move(tool_path);
    } else {
      return absl::InvalidArgumentError(base::Cat({"no tool is called '", tool_name, "'"}));
    }
    return out;
  });
}

absl::StatusOr<std::vector<std::uint8_t>> RunCompileAction(std::span<const std::uint8_t> request,
                                                           const ToolchainOptions& tools,
                                                           std::stop_token stop) {
  return base::Guard([&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    DEVLINK_RETURN_IF_ERROR(base::CheckStop(stop));
    FieldReader reader(request);
    const auto head = internal::ReadHead(reader);
    if (!head.has_value()) return NotARequest();
    DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::uint8_t> value,
                             head->kind == CompileKind::kPtx
                                 ? RunPtx(*head, reader, tools.ptx, stop)
                                 : RunLto(*head, reader, tools.lto, stop));
    return internal::MakeResult(internal::KeyOfRequest(request), value);
  });
}

}  // namespace devlink
