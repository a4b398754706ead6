// SPDX-License-Identifier: Apache-2.0
//
// A libNVVM in memory and the entry points that a link needs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/dynamic_library.h"

namespace devlink::internal {

// From nvvm.h, but for the last three: nvlink asks `__nvvmHandle` for them.
struct NvvmFunctions {
  int (*create)(void** program) = nullptr;
  int (*destroy)(void** program) = nullptr;
  int (*compile)(void* program, int count, const char** options) = nullptr;
  int (*result_size)(void* program, std::size_t* size) = nullptr;  // with a NUL behind the text
  int (*result)(void* program, char* out) = nullptr;
  int (*log_size)(void* program, std::size_t* size) = nullptr;  // with its NUL
  int (*log)(void* program, char* out) = nullptr;
  const char* (*error_text)(int code) = nullptr;
  // Not there in every library that could do for a link.
  int (*add_ir)(void* program, const char* bytes, std::size_t size, const char* name) = nullptr;

  int (*add_lto_ir)(void* program, const char* bytes, std::size_t size, const char* name) = nullptr;
  int (*piece_count)(void* program, int* count) = nullptr;
  int (*piece_sizes)(void* program, int count, std::size_t* sizes) = nullptr;
};

class LoadedNvvm {
 public:
  // FailedPrecondition where the library lacks something.
  static absl::StatusOr<std::shared_ptr<const LoadedNvvm>> Make(DynamicLibrary library);

  // Another one that shares no state with this.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const LoadedNvvm>> Copy() const;

  [[nodiscard]] const NvvmFunctions& functions() const { return functions_; }
  [[nodiscard]] const std::string& path() const { return library_.path(); }
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  explicit LoadedNvvm(DynamicLibrary library) : library_(std::move(library)) {}

  DynamicLibrary library_;
  NvvmFunctions functions_;
  std::string version_;
};

}  // namespace devlink::internal
