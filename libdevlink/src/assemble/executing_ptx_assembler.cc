// SPDX-License-Identifier: Apache-2.0
#include "assemble/executing_ptx_assembler.h"

#include <string>
#include <utility>

#include "assemble/backend.h"
#include "assemble/ptx_packing.h"
#include "base/status_macros.h"
#include "cache/compile_action.h"
#include "cache/file_identity.h"

namespace devlink::internal {

namespace {

class ExecutingAssembler final : public PtxAssembler {
 public:
  ExecutingAssembler(const PtxBackendOptions& options, std::unique_ptr<PtxAssembler> inner,
                     ActionHead head, std::string path)
      : options_(options),
        inner_(std::move(inner)),
        client_(options.executor, std::move(head), std::move(path)) {}

  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] std::string_view version() const override { return inner_->version(); }
  [[nodiscard]] bool matches_nvlink() const override { return inner_->matches_nvlink(); }
  [[nodiscard]] unsigned jobs_elsewhere() const override { return client_.parallelism(); }

  PtxResult Assemble(const PtxJob& job) const override {
    if (NameFiles(job.arguments)) return inner_->Assemble(job);  // of this machine
    PtxResult out;
    const auto here = [&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
      out = inner_->Assemble(job);
      if (!IsAnswer(out.status)) return out.status;
      return PackPtxAnswer(job, out);
    };
    const auto take = [&](base::Bytes value) {
      auto result = UnpackPtxAnswer(job, value);
      if (!result.has_value() || result->cubin.size() > options_.max_output_bytes) return false;
      out = *std::move(result);
      return true;
    };
    const auto write = [&](FieldWriter& writer) { WritePtxJob(job, options_.profile, writer); };
    const absl::Status done =
        client_.Do({.write = write, .here = here, .take = take, .stop = job.stop});
    // Where it was tried here, that says more.
    if (!done.ok() && out.status.ok()) out = {.status = done};
    return out;
  }

 private:
  const PtxBackendOptions options_;
  const std::unique_ptr<PtxAssembler> inner_;
  const ActionClient client_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PtxAssembler>> MakeExecutingPtxAssembler(
    const PtxBackendOptions& options, std::unique_ptr<PtxAssembler> inner) {
  const Way* way = WayNamed(inner->name());
  if (way == nullptr) return absl::InternalError("an assembler has an unknown name");
  const std::string& path = options.*way->path;
  DEVLINK_ASSIGN_OR_RETURN(ActionHead head, MakeActionHead(CompileKind::kPtx, inner->name(), path));
  head.environment = options.environment;
  head.host_environment = options.host_environment;
  return std::make_unique<ExecutingAssembler>(options, std::move(inner), std::move(head), path);
}

}  // namespace devlink::internal
