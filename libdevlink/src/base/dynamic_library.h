// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace devlink::internal {

// A shared object, loaded with its names out of the way of all others. Move-only; what was looked
// up in it is gone with it.
class DynamicLibrary {
 public:
  // NotFound where there is none at the path, FailedPrecondition where it cannot be loaded.
  static absl::StatusOr<DynamicLibrary> Load(const std::string& path);

  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  DynamicLibrary& operator=(DynamicLibrary&&) = delete;
  ~DynamicLibrary();

  // FailedPrecondition where the library has no such name.
  template <typename Function>
  absl::Status Find(const char* name, Function*& out) const {
    auto address = Address(name);
    if (!address.ok()) return address.status();
    out = reinterpret_cast<Function*>(*address);
    return absl::OkStatus();
  }

 private:
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  absl::StatusOr<void*> Address(const char* name) const;

  void* handle_;
  std::string path_;
};

}  // namespace devlink::internal
