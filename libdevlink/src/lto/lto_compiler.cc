// SPDX-License-Identifier: Apache-2.0
//
// The choice of a compiler, and libNVVM as one.
#include "devlink/experimental/lto_compiler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/nvvm_program.h"
#include "lto/executing_lto_compiler.h"
#include "lto/lto_backends.h"
#include "lto/lto_messages.h"

namespace devlink {

namespace internal {

namespace {

// What to do where protected code cannot be compiled.
constexpr const char* kProtectedAdvice =
    "it is stored in NVIDIA's protected form, which only libnvJitLink reads: name a "
    "libnvJitLink.so.13 (it comes with the CUDA toolkit and the package nvidia-nvjitlink of PyPI), "
    "or compile the source with `nvcc -dlto -Xfatbin --compress=false`";

class NvvmCompiler final : public LtoCompiler {
 public:
  NvvmCompiler(NvvmLibrary library, std::uint64_t max_output_bytes)
      : library_(std::move(library)), max_output_bytes_(max_output_bytes) {}

  [[nodiscard]] std::string_view name() const override { return kNvvmName; }
  [[nodiscard]] std::string_view version() const override { return library_.version(); }
  [[nodiscard]] bool takes_protected() const override { return false; }

  [[nodiscard]] LtoOutput Compile(const LtoJob& job) const override {
    LtoOutput output;
    output.backend_name = name();
    NvvmProgram program(library_);
    for (const LtoModule& module : job.modules) {
      if (module.is_protected) {
        const std::string why = absl::StrCat("'", module.name, "': ", kProtectedAdvice);
        output.status = absl::FailedPreconditionError(why);
        output.diagnostics.push_back(LtoFatal(kModuleRefused, why, module.name));
        return output;
      }
      program.AddLtoIr(module.name, module.bytes);
    }
    NvvmResult result = program.Compile(job.arguments, max_output_bytes_);
    output.status = std::move(result.status);
    output.pieces = std::move(result.pieces);
    OrderPieces(output.pieces);
    output.diagnostics = std::move(result.diagnostics);
    output.whole_program = output.status.ok() && result.code == kNvvmWholeProgram &&
                           output.pieces.size() == 1 && !IsForcedPartial(job.arguments);
    return output;
  }

 private:
  NvvmLibrary library_;
  std::uint64_t max_output_bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LtoCompiler>> OpenNvvmCompiler(const LtoBackendOptions& options) {
  DEVLINK_ASSIGN_OR_RETURN(NvvmLibrary library, NvvmLibrary::Load(options.nvvm_path));
  return std::make_unique<NvvmCompiler>(std::move(library), options.max_output_bytes);
}

}  // namespace internal

namespace {

absl::Status Missing(const LtoBackendOptions& options, std::string_view library,
                     std::string_view rest) {
  return absl::NotFoundError(base::ToAbsl(base::Cat(
      {"no ", library, " was named", rest, options.advice.empty() ? "" : "; ", options.advice})));
}

absl::StatusOr<std::unique_ptr<LtoCompiler>> OpenCompiler(const LtoBackendOptions& options) {
  if (internal::MayBeNvvm(options)) {
    auto compiler = internal::OpenNvvmCompiler(options);
    if (compiler.ok() || !internal::MayBeNvJitLink(options)) return compiler;
    auto other = internal::OpenNvJitLinkCompiler(options);
    return other.ok() ? std::move(other) : std::move(compiler);
  }
  if (internal::MayBeNvJitLink(options)) return internal::OpenNvJitLinkCompiler(options);
  if (options.backend == LtoBackend::kNvvm) return Missing(options, "libnvvm.so", "");
  if (options.backend == LtoBackend::kAutomatic && !options.needs_protected) {
    return Missing(options, "libnvvm.so", ", and no libnvJitLink.so.13");
  }
  return Missing(options, "libnvJitLink.so.13",
                 options.needs_protected
                     ? absl::StrCat(", and a module needs it: ", internal::kProtectedAdvice)
                     : "");
}

}  // namespace

unsigned LtoCompiler::jobs_elsewhere() const { return 0; }

absl::StatusOr<std::unique_ptr<LtoCompiler>> CreateLtoCompiler(const LtoBackendOptions& options) {
  return base::Guard([&]() -> absl::StatusOr<std::unique_ptr<LtoCompiler>> {
    auto opened = OpenCompiler(options);
    if (!opened.ok() || options.executor == nullptr) return opened;
    return internal::MakeExecutingLtoCompiler(options, *std::move(opened));
  });
}

}  // namespace devlink
