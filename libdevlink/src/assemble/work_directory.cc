// SPDX-License-Identifier: Apache-2.0
#include "assemble/work_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"

namespace devlink::internal {

WorkDirectory::WorkDirectory(const std::string& parent, std::vector<std::string_view> names)
    : path_(base::Cat({parent, "/devlink.", std::string(6, 'X')})), names_(std::move(names)) {
  made_ = mkdtemp(path_.data()) != nullptr;
}

WorkDirectory::~WorkDirectory() {
  if (!made_) return;
  // First without opening anything: a process may have no descriptor left.
  for (const std::string_view name : names_) unlink(File(name).c_str());
  if (rmdir(path_.c_str()) == 0) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool WorkDirectory::Write(std::string_view name, base::Bytes bytes) const {
  return WriteNewFile(File(name), bytes);
}

bool WriteNewFile(const std::string& path, base::Bytes bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool ok = base::WriteAll(file, bytes);
  const int error = errno;
  ok = close(file) == 0 && ok;
  errno = error;
  return ok;
}

}  // namespace devlink::internal
