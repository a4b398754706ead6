// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace devlink::internal {

// A shared object, loaded with its names out of the way of all others. Move-only.
class DynamicLibrary {
 public:
  // NotFound where there is none at the path, FailedPrecondition where it cannot be loaded. Stays
  // loaded for as long as the process lives.
  static absl::StatusOr<DynamicLibrary> Load(const std::string& path);

  // As Load, but what the library keeps in variables is shared with no other user of it in this
  // process: a copy of the file, in memory, is loaded.
  static absl::StatusOr<DynamicLibrary> LoadCopy(const std::string& path);

  // One that the caller has opened with dlopen, and closes after this object is gone. Its path is
  // found out from the address of `symbol`.
  static absl::StatusOr<DynamicLibrary> Borrow(void* handle, const char* symbol);

  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        file_(std::exchange(other.file_, -1)),
        is_borrowed_(other.is_borrowed_),
        path_(std::move(other.path_)) {}
  DynamicLibrary& operator=(DynamicLibrary&&) = delete;
  ~DynamicLibrary();

  [[nodiscard]] const std::string& path() const { return path_; }

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
  // Of a copy. It stays open as long as the library is loaded: its number is part of the name that
  // the loader knows the copy by, and a second copy of that name would be taken for the first.
  int file_ = -1;
  bool is_borrowed_ = false;
  std::string path_;
};

}  // namespace devlink::internal
