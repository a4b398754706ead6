// SPDX-License-Identifier: Apache-2.0
#include "lto/loaded_nvvm.h"

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

// What nvlink 13.0 asks for: found with a library in libNVVM's place that writes it down.
constexpr unsigned kAddLtoIr = 0x2080;
constexpr unsigned kPieceCount = 0xF00D;
constexpr unsigned kPieceSizes = 0xB0BA;

template <typename Function>
absl::Status FindHandle(void* (*handle)(unsigned), unsigned number, const char* digits,
                        const std::string& path, Function*& out) {
  out = reinterpret_cast<Function*>(handle(number));
  if (out != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      base::Cat({"'", path, "' has nothing behind handle ", digits,
                 ", which link-time optimization needs; it is another library or release"}));
}

absl::Status FindAll(const DynamicLibrary& library, NvvmFunctions& out) {
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmCreateProgram", out.create));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmDestroyProgram", out.destroy));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmCompileProgram", out.compile));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmGetCompiledResultSize", out.result_size));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmGetCompiledResult", out.result));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmGetProgramLogSize", out.log_size));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmGetProgramLog", out.log));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvvmGetErrorString", out.error_text));
  if (!library.Find("nvvmAddModuleToProgram", out.add_ir).ok()) out.add_ir = nullptr;
  void* (*handle)(unsigned) = nullptr;
  DEVLINK_RETURN_IF_ERROR(library.Find("__nvvmHandle", handle));
  const std::string& path = library.path();
  DEVLINK_RETURN_IF_ERROR(FindHandle(handle, kAddLtoIr, "0x2080", path, out.add_lto_ir));
  DEVLINK_RETURN_IF_ERROR(FindHandle(handle, kPieceSizes, "0xB0BA", path, out.piece_sizes));
  return FindHandle(handle, kPieceCount, "0xF00D", path, out.piece_count);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const LoadedNvvm>> LoadedNvvm::Make(DynamicLibrary library) {
  std::shared_ptr<LoadedNvvm> out(new LoadedNvvm(std::move(library)));
  DEVLINK_RETURN_IF_ERROR(FindAll(out->library_, out->functions_));
  int (*version)(int*, int*) = nullptr;
  int major = 0;
  int minor = 0;
  if (out->library_.Find("nvvmVersion", version).ok() && version(&major, &minor) == 0) {
    out->version_ = base::Cat({std::to_string(major), ".", std::to_string(minor)});
  }
  return std::shared_ptr<const LoadedNvvm>(std::move(out));
}

absl::StatusOr<std::shared_ptr<const LoadedNvvm>> LoadedNvvm::Copy() const {
  DEVLINK_ASSIGN_OR_RETURN(DynamicLibrary library, DynamicLibrary::LoadCopy(path()));
  return Make(std::move(library));
}

}  // namespace devlink::internal
