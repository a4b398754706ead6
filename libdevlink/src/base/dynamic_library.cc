// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "base/strings.h"

namespace devlink::internal {

absl::StatusOr<DynamicLibrary> DynamicLibrary::Load(const std::string& path) {
  // A name without a slash would be searched for along LD_LIBRARY_PATH.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  if (access(file.c_str(), R_OK) != 0) {
    return absl::NotFoundError(base::Cat({"there is no library '", path, "' that can be read"}));
  }
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return absl::FailedPreconditionError(
        base::Cat({"cannot load '", path, "': ", why != nullptr ? why : "no reason given"}));
  }
  return DynamicLibrary(handle, path);
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

absl::StatusOr<void*> DynamicLibrary::Address(const char* name) const {
  void* address = dlsym(handle_, name);
  if (address == nullptr) {
    return absl::FailedPreconditionError(
        base::Cat({"'", path_, "' has no function ", name, "; it is another library or release"}));
  }
  return address;
}

}  // namespace devlink::internal
