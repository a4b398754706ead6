// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace devlink::base {

namespace {

// Builds name it where a file has to be named and there is none: as good as an empty one.
bool IsNullDevice(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

}  // namespace

bool IsFile(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

absl::StatusOr<FileContents> ReadFileAndIdentity(const std::string& path, std::uint64_t max_bytes) {
  // A pipe that nobody writes to would let nobody pass.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return absl::NotFoundError(absl::StrCat("cannot open: ", std::strerror(errno)));
  const absl::Cleanup close_file = [file] { close(file); };

  struct stat info = {};
  if (fstat(file, &info) != 0) {
    return absl::NotFoundError(absl::StrCat("cannot examine: ", std::strerror(errno)));
  }
  if (IsNullDevice(info)) return FileContents();
  if (!S_ISREG(info.st_mode)) return absl::NotFoundError("not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(size, " bytes are more than the limit of ", max_bytes));
  }

  FileContents out;
  out.identity = {.device = info.st_dev, .inode = info.st_ino};
  std::vector<std::uint8_t>& bytes = out.bytes;
  bytes.resize(size);
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t count = read(file, bytes.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::NotFoundError(absl::StrCat("cannot read: ", std::strerror(errno)));
    if (count == 0) break;  // it shrank while we read it: what is there is what is linked
    done += static_cast<std::uint64_t>(count);
  }
  bytes.resize(done);
  return out;
}

absl::StatusOr<std::vector<std::uint8_t>> ReadFile(const std::string& path,
                                                   std::uint64_t max_bytes) {
  auto contents = ReadFileAndIdentity(path, max_bytes);
  if (!contents.ok()) return contents.status();
  return std::move(contents->bytes);
}

bool WriteAll(int file, std::string_view text) {
  return WriteAll(file, Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

bool WriteAll(int file, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace devlink::base
