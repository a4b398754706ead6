// SPDX-License-Identifier: Apache-2.0
//
// The functions of nvJitLink's interface, declared here from what its callers pass and expect. A
// program calls `__nvJitLinkCreate_13_N` where it was compiled with the header of release 13.N, and
// `nvJitLinkCreate` where it looks the name up; both are the same function here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/guard.h"
#include "devlink/environment.h"
#include "nvjitlink/linker.h"
#include "surroundings.h"

using devlink::nvjitlink::Linker;
using devlink::nvjitlink::Output;
using devlink::nvjitlink::Result;

namespace {

// Runs what a function does; nothing of what it throws leaves.
template <typename Work>
int Enter(Work&& work) noexcept {
  const absl::StatusOr<Result> result =
      devlink::base::Guard([&]() -> absl::StatusOr<Result> { return work(); });
  return static_cast<int>(result.ok() ? *result : Result::kInternal);
}

int Create(Linker** handle, std::uint32_t count, const char* const* options) noexcept {
  return Enter([&] {
    if (handle == nullptr || options == nullptr) return Result::kNullInput;
    std::vector<std::string_view> texts;
    for (const char* option : std::span(options, count)) {
      if (option == nullptr) return Result::kNullInput;
      texts.emplace_back(option);
    }
    auto linker = std::make_unique<Linker>(devlink::Environment::Default(),
                                           devlink::nvjitlink::TakeSurroundings);
    const Result result = linker->Create(texts);
    // One that could not be set up has a log to be read, and is to be destroyed.
    *handle = linker.release();
    return result;
  });
}

int Destroy(Linker** handle) noexcept {
  return Enter([&] {
    if (handle == nullptr || *handle == nullptr) return Result::kNullInput;
    delete *handle;
    *handle = nullptr;
    return Result::kSuccess;
  });
}

int AddData(Linker* handle, int type, const void* data, std::size_t size,
            const char* name) noexcept {
  return Enter([&] {
    if (handle == nullptr) return Result::kNullInput;
    if (data == nullptr) return size == 0 ? Result::kInvalidInput : Result::kNullInput;
    return handle->AddData(type, {static_cast<const std::uint8_t*>(data), size},
                           name == nullptr ? "(null)" : name);
  });
}

int AddFile(Linker* handle, int type, const char* path) noexcept {
  return Enter([&] {
    if (handle == nullptr || path == nullptr) return Result::kNullInput;
    return handle->AddFile(type, path);
  });
}

int Complete(Linker* handle) noexcept {
  return Enter([&] { return handle == nullptr ? Result::kNullInput : handle->Complete(); });
}

template <typename Member>
int GetSize(Linker* handle, Member output, std::size_t* size) noexcept {
  return Enter([&] {
    if (handle == nullptr || size == nullptr) return Result::kNullInput;
    const Output found = (handle->*output)();
    if (found.result == Result::kSuccess) *size = found.bytes.size();
    return found.result;
  });
}

template <typename Member>
int Get(Linker* handle, Member output, void* bytes) noexcept {
  return Enter([&] {
    if (handle == nullptr || bytes == nullptr) return Result::kNullInput;
    const Output found = (handle->*output)();
    if (found.result == Result::kSuccess) {
      std::copy(found.bytes.begin(), found.bytes.end(), static_cast<char*>(bytes));
    }
    return found.result;
  });
}

int Version(unsigned* major, unsigned* minor) noexcept {
  if (major == nullptr || minor == nullptr) return static_cast<int>(Result::kNullInput);
  *major = devlink::nvjitlink::kMajorVersion;
  *minor = devlink::nvjitlink::kMinorVersion;
  return static_cast<int>(Result::kSuccess);
}

}  // namespace

#define DEVLINK_EXPORT __attribute__((visibility("default")))

// One function under the names of all releases. Macros, since a name cannot be put together
// otherwise.
#define DEVLINK_NAME(name, release, parameters, call) \
  DEVLINK_EXPORT int __nvJitLink##name##_13_##release parameters { return call; }
#define DEVLINK_NAMES(name, parameters, call)                    \
  DEVLINK_EXPORT int nvJitLink##name parameters { return call; } \
  DEVLINK_NAME(name, 0, parameters, call)                        \
  DEVLINK_NAME(name, 1, parameters, call)                        \
  DEVLINK_NAME(name, 2, parameters, call)                        \
  DEVLINK_NAME(name, 3, parameters, call)                        \
  DEVLINK_NAME(name, 4, parameters, call)                        \
  DEVLINK_NAME(name, 5, parameters, call)
// A pair of functions for one output of a handle.
#define DEVLINK_OUTPUT(name, output)                                                             \
  DEVLINK_NAMES(name##Size, (Linker * handle, std::size_t* size), GetSize(handle, output, size)) \
  DEVLINK_NAMES(name, (Linker * handle, void* bytes), Get(handle, output, bytes))

extern "C" {

DEVLINK_NAMES(Create, (Linker * *handle, std::uint32_t count, const char* const* options),
              Create(handle, count, options))
DEVLINK_NAMES(Destroy, (Linker * *handle), Destroy(handle))
DEVLINK_NAMES(AddData,
              (Linker * handle, int type, const void* data, std::size_t size, const char* name),
              AddData(handle, type, data, size, name))
DEVLINK_NAMES(AddFile, (Linker * handle, int type, const char* path), AddFile(handle, type, path))
DEVLINK_NAMES(Complete, (Linker * handle), Complete(handle))
DEVLINK_OUTPUT(GetLinkedCubin, &Linker::Cubin)
DEVLINK_OUTPUT(GetLinkedPtx, &Linker::Ptx)
DEVLINK_OUTPUT(GetLinkedLTOIR, &Linker::LtoIr)
DEVLINK_OUTPUT(GetErrorLog, &Linker::ErrorLog)
DEVLINK_OUTPUT(GetInfoLog, &Linker::InfoLog)

DEVLINK_EXPORT int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  return Version(major, minor);
}

// In no header, and not known to be called by anybody: says that it does nothing.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is NVIDIA's.
DEVLINK_EXPORT int __nvJitLinkAPI() { return static_cast<int>(Result::kInternal); }

// By this libdevlink knows that what it was told is NVIDIA's library is this one.
DEVLINK_EXPORT extern const int devlink_nvjitlink;
const int devlink_nvjitlink = 1;

}  // extern "C"
