// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "base/descriptor.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

absl::Status CannotLoad(const std::string& path, std::string_view why) {
  return absl::FailedPreconditionError(base::Cat({"cannot load '", path, "': ", why}));
}

absl::Status LoaderSays(const std::string& path) {
  const char* why = dlerror();
  return CannotLoad(path, why != nullptr ? why : "no reason given");
}

bool CopyFile(int from, int to) {
  struct stat status = {};
  if (fstat(from, &status) != 0) return false;
  for (off_t done = 0; done < status.st_size;) {
    const ssize_t count =
        sendfile(to, from, &done, static_cast<std::size_t>(status.st_size - done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<DynamicLibrary> DynamicLibrary::Load(const std::string& path) {
  // A name without a slash would be searched for along LD_LIBRARY_PATH.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  if (access(file.c_str(), R_OK) != 0) {
    return absl::NotFoundError(base::Cat({"there is no library '", path, "' that can be read"}));
  }
  // A compiler may leave threads behind that are still at work in it, as nvPTXCompiler does with
  // -split-compile: it stays where it is for as long as the process lives.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return LoaderSays(path);
  return DynamicLibrary(handle, path);
}

absl::StatusOr<DynamicLibrary> DynamicLibrary::LoadCopy(const std::string& path) {
  const base::Descriptor from(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (from.get() < 0) {
    return absl::NotFoundError(base::Cat({"there is no library '", path, "' that can be read"}));
  }
  base::Descriptor copy(memfd_create("devlink", MFD_CLOEXEC));
  if (copy.get() < 0 || !CopyFile(from.get(), copy.get())) {
    return CannotLoad(path, base::Cat({"no copy of it can be made in memory: ",
                                       std::strerror(errno)}));  // NOLINT(concurrency-mt-unsafe)
  }
  const std::string name = base::Cat({"/proc/self/fd/", std::to_string(copy.get())});
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return LoaderSays(path);
  DynamicLibrary out(handle, path);
  out.file_ = copy.Release();
  return out;
}

absl::StatusOr<DynamicLibrary> DynamicLibrary::Borrow(void* handle, const char* symbol) {
  DynamicLibrary out(handle, "the caller's library");
  out.is_borrowed_ = true;
  if (handle == nullptr) return absl::InvalidArgumentError("the handle of the library is null");
  auto address = out.Address(symbol);
  if (!address.ok()) return address.status();
  Dl_info info = {};
  if (dladdr(*address, &info) != 0 && info.dli_fname != nullptr) out.path_ = info.dli_fname;
  return out;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr && !is_borrowed_) dlclose(handle_);
  if (file_ >= 0) close(file_);
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
