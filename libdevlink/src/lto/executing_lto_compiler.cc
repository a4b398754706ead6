// SPDX-License-Identifier: Apache-2.0
#include "lto/executing_lto_compiler.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "cache/compile_action.h"
#include "cache/file_identity.h"
#include "devlink/experimental/nvvm_program.h"
#include "lto/lto_backends.h"
#include "lto/lto_packing.h"

namespace devlink::internal {

namespace {

class ExecutingCompiler final : public LtoCompiler {
 public:
  ExecutingCompiler(const LtoBackendOptions& options, std::unique_ptr<LtoCompiler> inner,
                    ActionHead head, std::string path)
      : max_output_bytes_(options.max_output_bytes),
        inner_(std::move(inner)),
        client_(options.executor, std::move(head), std::move(path)) {}

  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] std::string_view version() const override { return inner_->version(); }
  [[nodiscard]] bool takes_protected() const override { return inner_->takes_protected(); }
  [[nodiscard]] unsigned jobs_elsewhere() const override { return client_.parallelism(); }

  [[nodiscard]] LtoOutput Compile(const LtoJob& job) const override {
    if (NameFiles(job.arguments)) return inner_->Compile(job);  // of this machine
    LtoOutput out;
    const auto here = [&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
      out = inner_->Compile(job);
      if (!IsAnswer(out.status)) return out.status;
      return PackLtoAnswer(out);
    };
    const auto take = [&](base::Bytes value) {
      auto output = UnpackLtoAnswer(value, max_output_bytes_);
      if (!output.has_value()) return false;
      out = *std::move(output);
      return true;
    };
    const auto write = [&](FieldWriter& writer) { WriteLtoJob(job, writer); };
    const absl::Status done =
        client_.Do({.write = write, .here = here, .take = take, .stop = job.stop});
    // Where it was tried here, that says more.
    if (!done.ok() && out.status.ok()) out = {.status = done};
    if (out.backend_name.empty()) out.backend_name = name();
    return out;
  }

 private:
  const std::uint64_t max_output_bytes_;
  const std::unique_ptr<LtoCompiler> inner_;
  const ActionClient client_;
};

}  // namespace

std::string FileOfLtoLibrary(const LtoBackendOptions& options, std::string_view name) {
  if (name != kNvvmName) return options.nvjitlink_path;
  return FindNvvmLibrary(std::span(&options.nvvm_path, 1)).value_or("");
}

absl::StatusOr<std::unique_ptr<LtoCompiler>> MakeExecutingLtoCompiler(
    const LtoBackendOptions& options, std::unique_ptr<LtoCompiler> inner) {
  const std::string path = FileOfLtoLibrary(options, inner->name());
  DEVLINK_ASSIGN_OR_RETURN(ActionHead head, MakeActionHead(CompileKind::kLto, inner->name(), path));
  head.host_environment = options.host_environment;
  return std::make_unique<ExecutingCompiler>(options, std::move(inner), std::move(head), path);
}

}  // namespace devlink::internal
