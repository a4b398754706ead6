// SPDX-License-Identifier: Apache-2.0
//
// The finalizer in a process of its own, which reads its job from a file and writes what came of it
// to another. What libnvJitLink does to its process stays there.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "assemble/child_process.h"
#include "assemble/work_directory.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/strings.h"
#include "cache/serial.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "finalize/finalizer_options.h"

namespace devlink {

namespace internal {

namespace {

std::vector<std::uint8_t> PackJob(const FinalizeJob& job) {
  FieldWriter writer;
  writer.U64(job.target.number);
  writer.U8(static_cast<std::uint8_t>(job.target.variant));
  writer.U64(job.release);
  writer.U8(job.debug ? 1 : 0);
  writer.U8(job.relocatable ? 1 : 0);
  writer.Texts(job.kernels_used);
  writer.Texts(job.variables_used);
  writer.U64(job.inputs.size());
  for (const FinalizeInput& input : job.inputs) {
    writer.Text(input.name);
    writer.Bytes(input.bytes);
  }
  return writer.bytes();
}

// `names` keeps the names of the inputs, whose bytes are borrowed.
std::optional<FinalizeJob> UnpackJob(std::span<const std::uint8_t> bytes,
                                     std::vector<std::string>& names) {
  FieldReader reader(bytes);
  FinalizeJob job;
  job.target.number = static_cast<std::uint16_t>(reader.U64());
  job.target.variant = static_cast<char>(reader.U8());
  job.release = static_cast<std::uint16_t>(reader.U64());
  job.debug = reader.U8() != 0;
  job.relocatable = reader.U8() != 0;
  job.kernels_used = reader.Texts();
  job.variables_used = reader.Texts();
  job.inputs.resize(reader.Count(2 * kSmallestText));
  names.resize(job.inputs.size());
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    names[i] = reader.Text();
    job.inputs[i] = {.name = names[i], .bytes = reader.Bytes()};
  }
  if (!reader.AtEnd()) return std::nullopt;
  return job;
}

std::vector<std::uint8_t> PackResult(const absl::StatusOr<Finalized>& made) {
  FieldWriter writer;
  writer.U64(static_cast<std::uint64_t>(made.status().code()));
  writer.Text(base::FromAbsl(made.status().message()));
  writer.Bytes(made.ok() ? base::Bytes(made->cubin) : base::Bytes());
  writer.Texts(made.ok() ? made->messages : std::vector<std::string>());
  return writer.bytes();
}

absl::StatusOr<Finalized> UnpackResult(std::span<const std::uint8_t> bytes) {
  FieldReader reader(bytes);
  const auto code = static_cast<absl::StatusCode>(reader.U64());
  const std::string message = reader.Text();
  const base::Bytes cubin = reader.Bytes();
  Finalized out;
  out.messages = reader.Texts();
  if (!reader.AtEnd()) return absl::UnavailableError("the finalizer's process was cut short");
  if (code != absl::StatusCode::kOk) return absl::Status(code, message);
  out.cubin.assign(cubin.begin(), cubin.end());
  out.tool = std::string(kFinalizerName);
  return out;
}

class WorkerFinalizer final : public MercuryFinalizer {
 public:
  explicit WorkerFinalizer(FinalizerOptions options) : options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return kFinalizerName; }
  [[nodiscard]] std::string_view version() const override { return {}; }
  [[nodiscard]] bool works_at_once() const override { return true; }

  [[nodiscard]] absl::StatusOr<Finalized> Finalize(const FinalizeJob& job) const override {
    return base::Guard([&] { return Run(job); });
  }

 private:
  [[nodiscard]] absl::StatusOr<Finalized> Run(const FinalizeJob& job) const {
    DEVLINK_RETURN_IF_ERROR(CheckNvJitLinkKnows(job));
    constexpr std::size_t kMaxText = 1 << 16;
    constexpr std::string_view kJob = "job";
    constexpr std::string_view kResult = "result";
    const WorkDirectory directory(options_.temporary_directory, {kJob, kResult});
    if (!directory.made() || !directory.Write(kJob, PackJob(job))) {
      return absl::UnavailableError(base::ToAbsl(
          base::Cat({"cannot write the finalizer's job into '", options_.temporary_directory,
                     "': ", std::generic_category().message(errno),
                     "; make room there or name another temporary directory"})));
    }
    const std::string result = directory.File(kResult);
    const auto timeout = TimeFor(options_, job);
    DEVLINK_ASSIGN_OR_RETURN(
        const ChildResult child,
        RunChild({options_.worker_path, options_.nvjitlink_path, directory.File(kJob), result},
                 {.environment = options_.host_environment,
                  .timeout = timeout,
                  .stop = job.stop,
                  .max_text = kMaxText,
                  .writable_folder = directory.path()}));
    if (child.stopped) return base::Stopped();
    if (child.timed_out) {
      return absl::DeadlineExceededError(
          absl::StrCat("libnvJitLink did not end within ", timeout.count(),
                       " ms: it goes on for ever where an input is damaged"));
    }
    if (child.signal != 0) {
      return absl::UnavailableError(
          absl::StrCat("libnvJitLink crashed, signal ", child.signal,
                       ": it does so where nvlink ends with an internal error"));
    }
    if (child.exit_status != 0) {
      return absl::UnavailableError(absl::StrCat("'", options_.worker_path, "' ended with status ",
                                                 child.exit_status, ": ", child.text));
    }
    const std::uint64_t most = options_.max_output_bytes + kMaxText;
    DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::uint8_t> bytes, base::ReadFile(result, most));
    auto made = UnpackResult(bytes);
    if (made.ok() && made->cubin.size() > options_.max_output_bytes) {
      return absl::ResourceExhaustedError("the cubin is larger than the bound that was set");
    }
    return made;
  }

  FinalizerOptions options_;
};

}  // namespace

std::chrono::milliseconds TimeFor(const FinalizerOptions& options, const FinalizeJob& job) {
  constexpr std::chrono::seconds kAtLeast{10};
  constexpr std::chrono::seconds kForAMiB{20};
  if (options.timeout.count() != 0) return options.timeout;
  std::uint64_t bytes = 0;
  for (const FinalizeInput& input : job.inputs) bytes += input.bytes.size();
  return kAtLeast + kForAMiB * static_cast<std::int64_t>(bytes >> 20);
}

absl::Status CheckProgram(const std::string& program, const FinalizerOptions& options) {
  if (!base::IsFile(program) || access(program.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        base::ToAbsl(base::Cat({"there is no program '", program, "' that can be run"})));
  }
  if (options.temporary_directory.empty()) {
    return absl::FailedPreconditionError(
        "the finalizer needs a temporary directory, and none is named");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<MercuryFinalizer>> OpenWorkerFinalizer(
    const FinalizerOptions& options) {
  if (!base::IsFile(options.nvjitlink_path)) {
    return absl::NotFoundError(
        base::ToAbsl(base::Cat({"there is no library '", options.nvjitlink_path, "'"})));
  }
  DEVLINK_RETURN_IF_ERROR(CheckProgram(options.worker_path, options));
  return std::make_unique<WorkerFinalizer>(options);
}

}  // namespace internal

int ServeFinalizerJob(const std::string& nvjitlink_path, const std::string& job_path,
                      const std::string& result_path) {
  constexpr std::uint64_t kMaxJob = std::uint64_t{64} << 30;
  constexpr int kNoJob = 3;
  constexpr int kNotWritten = 4;
  const auto bytes = base::ReadFile(job_path, kMaxJob);
  if (!bytes.ok()) return kNoJob;
  std::vector<std::string> names;
  const auto job = internal::UnpackJob(*bytes, names);
  if (!job) return kNoJob;
  const auto finalizer = CreateMercuryFinalizer({.nvjitlink_path = nvjitlink_path});
  const auto made = finalizer.ok() ? (*finalizer)->Finalize(*job) : finalizer.status();
  const bool written = internal::WriteNewFile(result_path, internal::PackResult(made));
  return written ? 0 : kNotWritten;
}

}  // namespace devlink
