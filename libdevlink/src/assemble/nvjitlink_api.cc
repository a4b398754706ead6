// SPDX-License-Identifier: Apache-2.0
#include "assemble/nvjitlink_api.h"

#include "absl/status/status.h"
#include "assemble/ptx_log.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

absl::Status FindAll(const DynamicLibrary& library, NvJitLinkFunctions& out) {
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkVersion", out.version));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkCreate", out.create));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkDestroy", out.destroy));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkAddData", out.add));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkComplete", out.complete));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetLinkedCubinSize", out.cubin_size));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetLinkedCubin", out.cubin));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetLinkedPtxSize", out.ptx_size));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetLinkedPtx", out.ptx));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetErrorLogSize", out.error_size));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetErrorLog", out.error_log));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetInfoLogSize", out.info_size));
  return library.Find("nvJitLinkGetInfoLog", out.info_log);
}

}  // namespace

absl::StatusOr<LoadedNvJitLink> LoadedNvJitLink::Make(DynamicLibrary library,
                                                      const std::string& path) {
  LoadedNvJitLink out(std::move(library));
  // One that was put in the place of NVIDIA's would call itself for what only NVIDIA's can do.
  const int* marker = nullptr;
  if (out.library_.Find("devlink_nvjitlink", marker).ok()) {
    return absl::FailedPreconditionError(
        base::Cat({"'", path, "' is libdevlink's own library of that name; NVIDIA's is needed"}));
  }
  DEVLINK_RETURN_IF_ERROR(FindAll(out.library_, out.functions_));
  unsigned major = 0;
  unsigned minor = 0;
  if (out.functions_.version(&major, &minor) != 0) {
    return absl::FailedPreconditionError(base::Cat({"'", path, "' does not tell its version"}));
  }
  out.version_ = base::Cat({std::to_string(major), ".", std::to_string(minor)});
  return out;
}

absl::StatusOr<LoadedNvJitLink> LoadedNvJitLink::Load(const std::string& path) {
  DEVLINK_ASSIGN_OR_RETURN(DynamicLibrary library, DynamicLibrary::Load(path));
  return Make(std::move(library), path);
}

absl::StatusOr<LoadedNvJitLink> LoadedNvJitLink::LoadCopy(const std::string& path) {
  DEVLINK_ASSIGN_OR_RETURN(DynamicLibrary library, DynamicLibrary::LoadCopy(path));
  return Make(std::move(library), path);
}

int NvJitLinkHandle::Create(const std::vector<std::string>& options) {
  std::vector<const char*> words;
  words.reserve(options.size());
  for (const std::string& option : options) words.push_back(option.c_str());
  return functions_.create(&handle_, static_cast<std::uint32_t>(words.size()), words.data());
}

std::string NvJitLinkHandle::ErrorLog() const {
  return FetchLog(handle_, functions_.error_size, functions_.error_log);
}

std::string NvJitLinkHandle::InfoLog() const {
  return FetchLog(handle_, functions_.info_size, functions_.info_log);
}

}  // namespace devlink::internal
