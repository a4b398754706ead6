// SPDX-License-Identifier: Apache-2.0
//
// libnvJitLink as a finalizer. It is given cubins only: of host objects it ignores what their host
// code refers to, and libcudadevrt it would always link.
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "assemble/nvjitlink_api.h"
#include "base/bounded_reader.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "devlink/toolkit_profile.h"
#include "finalize/finalizer_options.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

namespace {

class NvJitLinkFinalizer final : public MercuryFinalizer {
 public:
  NvJitLinkFinalizer(LoadedNvJitLink library, std::uint64_t max_output_bytes)
      : library_(std::move(library)), max_output_bytes_(max_output_bytes) {}

  [[nodiscard]] std::string_view name() const override { return kFinalizerName; }
  [[nodiscard]] std::string_view version() const override { return library_.version(); }

  [[nodiscard]] absl::StatusOr<Finalized> Finalize(const FinalizeJob& job) const override {
    return base::Guard([&] { return Link(job); });
  }

 private:
  [[nodiscard]] absl::Status CheckRelease(const FinalizeJob& job) const {
    const std::string wanted = ToolkitProfile{.release = job.release}.ReleaseName();
    if (wanted == library_.version()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("'", library_.path(), "' is of CUDA ", library_.version(),
                     ", and this link writes what CUDA ", wanted,
                     " writes: name the libnvJitLink.so.13 of that release, or another --toolkit"));
  }

  absl::Status Add(const NvJitLinkHandle& linker, const FinalizeJob& job,
                   const FinalizeInput& input) const {
    std::vector<std::uint8_t> fitted;
    DEVLINK_ASSIGN_OR_RETURN(const bool changed, Retarget(input.bytes, job.target, fitted));
    const std::span<const std::uint8_t> bytes = changed ? fitted : input.bytes;
    const int code = library_.functions().add(linker.get(), kNvJitLinkCubin, bytes.data(),
                                              bytes.size(), std::string(input.name).c_str());
    if (code == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("libnvJitLink refuses '",
                                                   base::ToAbsl(input.name), "' (error ", code,
                                                   "): ", InOneLine(LinesOf(linker.ErrorLog()))));
  }

  [[nodiscard]] absl::StatusOr<Finalized> Link(const FinalizeJob& job) const {
    DEVLINK_RETURN_IF_ERROR(CheckRelease(job));
    DEVLINK_RETURN_IF_ERROR(CheckNvJitLinkKnows(job));
    const NvJitLinkFunctions& functions = library_.functions();
    NvJitLinkHandle linker(functions);
    if (const int code = linker.Create(FinalizerWords(job)); code != 0) {
      return absl::UnimplementedError(absl::StrCat("libnvJitLink refuses its options (error ", code,
                                                   "): ", InOneLine(LinesOf(linker.ErrorLog()))));
    }
    for (const FinalizeInput& input : job.inputs) DEVLINK_RETURN_IF_ERROR(Add(linker, job, input));
    if (const int code = functions.complete(linker.get()); code != 0) {
      return absl::InvalidArgumentError(absl::StrCat("libnvJitLink ends with error ", code, ": ",
                                                     InOneLine(LinesOf(linker.ErrorLog()))));
    }
    Finalized out;
    std::size_t size = 0;
    if (functions.cubin_size(linker.get(), &size) != 0 || size == 0) {
      return absl::InternalError("libnvJitLink hands out no cubin");
    }
    if (size > max_output_bytes_) {
      return absl::ResourceExhaustedError(absl::StrCat("the cubin has ", size, " bytes; at most ",
                                                       max_output_bytes_, " are allowed"));
    }
    out.cubin.resize(size);
    if (functions.cubin(linker.get(), out.cubin.data()) != 0) {
      return absl::InternalError("libnvJitLink hands out no cubin");
    }
    out.messages = LinesOf(linker.InfoLog());
    out.tool = std::string(kFinalizerName);
    return out;
  }

  LoadedNvJitLink library_;
  std::uint64_t max_output_bytes_;
};

}  // namespace

std::vector<std::string> LinesOf(std::string_view log) {
  std::vector<std::string> out;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    if (end != 0) out.emplace_back(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return out;
}

std::string InOneLine(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) absl::StrAppend(&out, out.empty() ? "" : "; ", line);
  return out.empty() ? "it does not say why" : out;
}

std::vector<std::string> FinalizerWords(const FinalizeJob& job) {
  std::vector<std::string> out = {base::Cat({"-arch=", job.target.Name()})};
  if (job.debug) out.emplace_back("-g");
  if (job.relocatable) out.emplace_back("-r");
  // It does not split at commas.
  for (const std::string& text : job.kernels_used) {
    out.push_back(base::Cat({"-kernels-used=", text}));
  }
  for (const std::string& text : job.variables_used) {
    out.push_back(base::Cat({"-variables-used=", text}));
  }
  return out;
}

absl::Status CheckNvJitLinkKnows(const FinalizeJob& job) {
  if (job.nvlink_options.empty()) return absl::OkStatus();
  return absl::UnimplementedError(base::ToAbsl(
      base::Cat({"libnvJitLink knows no ", job.nvlink_options.front(), ", nvlink does"})));
}

absl::StatusOr<bool> Retarget(std::span<const std::uint8_t> cubin, Arch target,
                              std::vector<std::uint8_t>& out) {
  format::Ehdr header;
  if (!base::BoundedReader(cubin).Read(0, header) || !format::HasElfMagic(header)) {
    return absl::InvalidArgumentError("an input for the finalizer is not a cubin");
  }
  constexpr std::uint32_t kFrom = 100;
  constexpr std::uint32_t kTo = 103;
  if (format::SmOf(header) != kFrom || target.number != kTo) return false;
  header.flags = format::MakeElfFlags(format::CudaNoteOf(header), kTo, header.flags & 0xff);
  out.assign(cubin.begin(), cubin.end());
  std::memcpy(out.data(), &header, sizeof(header));
  return true;
}

}  // namespace devlink::internal

namespace devlink {

namespace {

// The library, in this process or in one of its own.
absl::StatusOr<std::unique_ptr<MercuryFinalizer>> OpenLibrary(const FinalizerOptions& options) {
  if (!options.worker_path.empty()) return internal::OpenWorkerFinalizer(options);
  DEVLINK_ASSIGN_OR_RETURN(internal::LoadedNvJitLink library,
                           internal::LoadedNvJitLink::Load(options.nvjitlink_path));
  return std::make_unique<internal::NvJitLinkFinalizer>(std::move(library),
                                                        options.max_output_bytes);
}

absl::Status NotNamed(const FinalizerOptions& options) {
  const std::string_view what =
      options.backend == FinalizerBackend::kNvlink
          ? "no nvlink was named: it comes with the CUDA toolkit"
          : "no libnvJitLink.so.13 was named: it comes with the CUDA toolkit and the package "
            "nvidia-nvjitlink of PyPI, and the toolkit's nvlink would do";
  return absl::NotFoundError(
      base::ToAbsl(base::Cat({what, options.advice.empty() ? "" : "; ", options.advice})));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MercuryFinalizer>> CreateMercuryFinalizer(
    const FinalizerOptions& options) {
  return base::Guard([&]() -> absl::StatusOr<std::unique_ptr<MercuryFinalizer>> {
    const bool may_be_library = internal::MayBeNvJitLink(options);
    if (internal::MayBeNvlink(options)) {
      internal::OpenOnce<MercuryFinalizer>::Open otherwise;
      if (may_be_library) otherwise = [options] { return OpenLibrary(options); };
      auto program = internal::OpenNvlinkFinalizer(options, std::move(otherwise));
      if (program.ok() || !may_be_library) return program;
    }
    if (!may_be_library) return NotNamed(options);
    return OpenLibrary(options);
  });
}

}  // namespace devlink
