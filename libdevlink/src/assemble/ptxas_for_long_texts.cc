// SPDX-License-Identifier: Apache-2.0
#include "assemble/ptxas_for_long_texts.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/guard.h"
#include "cache/file_identity.h"

namespace devlink::internal {

namespace {

class PtxasForLongTexts final : public PtxAssembler {
 public:
  PtxasForLongTexts(const PtxBackendOptions& options, std::unique_ptr<PtxAssembler> library,
                    OpenProgram open)
      : profile_(options.profile),
        from_bytes_(options.ptxas_from_bytes.value_or(0)),
        library_(std::move(library)),
        open_(std::move(open)) {}

  // The program makes the same cubins.
  [[nodiscard]] std::string_view name() const override { return library_->name(); }
  [[nodiscard]] std::string_view version() const override { return library_->version(); }
  [[nodiscard]] bool matches_nvlink() const override { return library_->matches_nvlink(); }

  PtxResult Assemble(const PtxJob& job) const override {
    const PtxAssembler* program = IsForProgram(job) ? Program() : nullptr;
    if (program == nullptr) return library_->Assemble(job);
    PtxResult result = program->Assemble(job);
    return absl::IsUnavailable(result.status) ? library_->Assemble(job) : result;
  }

 private:
  [[nodiscard]] bool IsForProgram(const PtxJob& job) const {
    // The library of 13.0 makes other code of some instructions (docs/compatibility.md).
    const auto is_debug = [](const std::string& word) {
      return word == "-g" || word == "--device-debug";
    };
    if (job.text.size() < from_bytes_ && !std::ranges::any_of(job.arguments, is_debug))
      return false;
    return !NameFiles(job.arguments);  // the program may write nowhere but into its own folder
  }

  // Null where there is none that makes the library's cubins.
  [[nodiscard]] const PtxAssembler* Program() const {
    std::call_once(opened_, [this] {
      auto program = base::Guard(open_);
      if (program.ok() && profile_.IsReleaseOf((*program)->version())) {
        program_ = *std::move(program);
      }
    });
    return program_.get();
  }

  const ToolkitProfile profile_;
  const std::uint64_t from_bytes_;
  const std::unique_ptr<PtxAssembler> library_;
  const OpenProgram open_;
  mutable std::once_flag opened_;
  mutable std::unique_ptr<PtxAssembler> program_;
};

}  // namespace

std::unique_ptr<PtxAssembler> MakePtxasForLongTexts(const PtxBackendOptions& options,
                                                    std::unique_ptr<PtxAssembler> library,
                                                    OpenProgram open) {
  return std::make_unique<PtxasForLongTexts>(options, std::move(library), std::move(open));
}

}  // namespace devlink::internal
