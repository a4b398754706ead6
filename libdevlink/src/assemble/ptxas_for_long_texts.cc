// SPDX-License-Identifier: Apache-2.0
#include "assemble/ptxas_for_long_texts.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/strings.h"
#include "format/make_diagnostic.h"

namespace devlink::internal {

namespace {

// What no other tool would do better: also of a text that makes the program crash, since in the
// library that would be a crash of this process.
bool IsFinal(const absl::Status& status) {
  return status.ok() || absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsInternal(status);
}

class PtxasForLongTexts final : public PtxAssembler {
 public:
  PtxasForLongTexts(const PtxBackendOptions& options, std::unique_ptr<PtxAssembler> library,
                    OpenProgram open)
      : options_(options), library_(std::move(library)), open_(std::move(open)) {}

  // But for what stands in for the program, and says so, it makes what both would.
  [[nodiscard]] std::string_view name() const override { return library_->name(); }
  [[nodiscard]] std::string_view version() const override { return library_->version(); }
  [[nodiscard]] bool matches_nvlink() const override { return library_->matches_nvlink(); }

  PtxResult Assemble(const PtxJob& job) const override {
    if (job.text.size() < *options_.ptxas_from_bytes &&
        !IsForProgramAlone(options_, job.arguments)) {
      return library_->Assemble(job);
    }
    std::call_once(opened_, [this] { Open(); });
    if (program_ == nullptr) return StandIn(job, refused_);
    PtxResult result = program_->Assemble(job);
    return IsFinal(result.status) ? result : StandIn(job, result.status);
  }

 private:
  void Open() const {
    auto program = base::Guard(open_);
    if (!program.ok()) {
      refused_ = program.status();
    } else if (!options_.profile.IsReleaseOf((*program)->version())) {
      refused_ = absl::NotFoundError(absl::StrCat("'", options_.ptxas_path, "' is of release ",
                                                  base::ToAbsl((*program)->version())));
    } else {
      program_ = *std::move(program);
    }
  }

  PtxResult StandIn(const PtxJob& job, const absl::Status& why) const {
    PtxResult result = library_->Assemble(job);
    if (!result.status.ok()) return result;
    const bool may_differ = IsForProgramAlone(options_, job.arguments);
    // Whether there is one, and of which release, does not change from text to text; but what is
    // said of it names this text and a path of this machine.
    result.is_stand_in = may_differ || !absl::IsNotFound(why);
    if (may_differ) {
      result.diagnostics.push_back(format::MakeDiagnostic(
          Severity::kInfo, DiagnosticCode::kUsage, job.name, "",
          base::Cat({"'", job.name, "' was assembled by ", library_->name(),
                     ", which with -g does not always make the code that ptxas makes: ",
                     base::FromAbsl(why.message())})));
    }
    return result;
  }

  const PtxBackendOptions options_;
  const std::unique_ptr<PtxAssembler> library_;
  const OpenProgram open_;
  mutable std::once_flag opened_;
  mutable std::unique_ptr<PtxAssembler> program_;
  mutable absl::Status refused_;  // where there is none
};

}  // namespace

bool MayUseProgram(const PtxBackendOptions& options) {
  return options.ptxas_from_bytes.has_value() && options.executor == nullptr;
}

bool IsForProgramAlone(const PtxBackendOptions& options, std::span<const std::string> arguments) {
  if (!MayUseProgram(options)) return false;
  return std::ranges::any_of(
      arguments, [](const std::string& word) { return word == "-g" || word == "--device-debug"; });
}

std::unique_ptr<PtxAssembler> MakePtxasForLongTexts(const PtxBackendOptions& options,
                                                    std::unique_ptr<PtxAssembler> library,
                                                    OpenProgram open) {
  return std::make_unique<PtxasForLongTexts>(options, std::move(library), std::move(open));
}

}  // namespace devlink::internal
