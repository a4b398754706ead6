// SPDX-License-Identifier: Apache-2.0
//
// libnvJitLink's public interface, for those who assemble and those who compile with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/dynamic_library.h"

namespace devlink::internal {

// From nvJitLink.h, whose names are the same in all releases of CUDA 12 and 13.
struct NvJitLinkFunctions {
  int (*version)(unsigned*, unsigned*) = nullptr;
  int (*create)(void**, std::uint32_t, const char**) = nullptr;
  int (*destroy)(void**) = nullptr;
  int (*add)(void*, int, const void*, std::size_t, const char*) = nullptr;
  int (*complete)(void*) = nullptr;
  int (*cubin_size)(void*, std::size_t*) = nullptr;
  int (*cubin)(void*, void*) = nullptr;
  int (*ptx_size)(void*, std::size_t*) = nullptr;
  int (*ptx)(void*, char*) = nullptr;
  int (*error_size)(void*, std::size_t*) = nullptr;
  int (*error_log)(void*, char*) = nullptr;
  int (*info_size)(void*, std::size_t*) = nullptr;
  int (*info_log)(void*, char*) = nullptr;
};
inline constexpr int kNvJitLinkCubin = 1;
inline constexpr int kNvJitLinkPtx = 2;
inline constexpr int kNvJitLinkLtoIr = 3;
inline constexpr int kNvJitLinkFatbin = 4;
inline constexpr int kNvJitLinkOutdated = 14;  // NVJITLINK_ERROR_OUTDATED_LIBRARY

// A library in memory.
class LoadedNvJitLink {
 public:
  static absl::StatusOr<LoadedNvJitLink> Load(const std::string& path);
  // One that shares no state with any other.
  static absl::StatusOr<LoadedNvJitLink> LoadCopy(const std::string& path);

  [[nodiscard]] const NvJitLinkFunctions& functions() const { return functions_; }
  [[nodiscard]] const std::string& path() const { return library_.path(); }
  // "13.0"
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  explicit LoadedNvJitLink(DynamicLibrary library) : library_(std::move(library)) {}
  static absl::StatusOr<LoadedNvJitLink> Make(DynamicLibrary library, const std::string& path);

  DynamicLibrary library_;
  NvJitLinkFunctions functions_;
  std::string version_;
};

// One link. Destroys it at the end.
class NvJitLinkHandle {
 public:
  explicit NvJitLinkHandle(const NvJitLinkFunctions& functions) : functions_(functions) {}
  ~NvJitLinkHandle() {
    if (handle_ != nullptr) functions_.destroy(&handle_);
  }
  NvJitLinkHandle(const NvJitLinkHandle&) = delete;
  NvJitLinkHandle& operator=(const NvJitLinkHandle&) = delete;

  // What nvJitLinkCreate returns; the logs can be had even where it fails.
  int Create(const std::vector<std::string>& options);

  [[nodiscard]] void* get() const { return handle_; }
  [[nodiscard]] std::string ErrorLog() const;
  [[nodiscard]] std::string InfoLog() const;

 private:
  const NvJitLinkFunctions& functions_;
  void* handle_ = nullptr;
};

}  // namespace devlink::internal
