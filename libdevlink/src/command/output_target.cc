// SPDX-License-Identifier: Apache-2.0
#include "command/output_target.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random_number.h"
#include "command/words.h"

namespace devlink::internal {

namespace {

constexpr int kMostLinks = 40;
constexpr int kMostNames = 100;  // taken ones, before we give up

// Whether a link may be followed. The rule is that of /proc/sys/fs/protected_symlinks; and the
// kernel's own links in /proc stand for a file whatever its name is now.
bool MayFollow(const Descriptor& folder, const struct stat& link) {
  struct stat info = {};
  struct statfs system = {};
  if (fstatfs(folder.get(), &system) != 0) return false;
  if (system.f_type == PROC_SUPER_MAGIC) {
    errno = ELOOP;
    return false;
  }
  if (fstat(folder.get(), &info) != 0) return false;
  const bool for_everybody = (info.st_mode & S_ISVTX) != 0 && (info.st_mode & S_IWOTH) != 0;
  if (!for_everybody || link.st_uid == geteuid() || link.st_uid == info.st_uid) return true;
  errno = EACCES;
  return false;
}

std::string RandomName() {
  return absl::StrCat(".devlink-", absl::Hex(base::RandomNumber(), absl::kZeroPad16));
}

}  // namespace

std::optional<OutputTarget> FindOutputTarget(const std::string& path) {
  OutputTarget target{.folder = Descriptor(), .name = path};
  Descriptor from;  // the folder that `target.name` is relative to
  for (int links = 0; links < kMostLinks; ++links) {
    const std::string folder(FolderOf(target.name));
    target.name.erase(0, target.name.rfind('/') + 1);  // npos + 1 is 0
    Descriptor next(openat(from.open() ? from.get() : AT_FDCWD, folder.c_str(),
                           O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!next.open()) return std::nullopt;
    from = std::move(next);
    if (target.name.empty() || target.name == "." || target.name == "..") {
      errno = EISDIR;
      return std::nullopt;
    }
    struct stat info = {};
    const bool is_there = fstatat(from.get(), target.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there && errno != ENOENT) return std::nullopt;
    if (!is_there || !S_ISLNK(info.st_mode)) {
      target.folder = std::move(from);
      return target;
    }
    if (!MayFollow(from, info)) return std::nullopt;
    std::array<char, PATH_MAX> text;
    const ssize_t size = readlinkat(from.get(), target.name.c_str(), text.data(), text.size());
    if (size < 0) return std::nullopt;
    target.name.assign(text.data(), static_cast<std::size_t>(size));
  }
  errno = ELOOP;
  return std::nullopt;
}

bool ReplacementFile::OpenUnnamed(const OutputTarget& target, mode_t mode) {
  file_ = Descriptor(openat(target.folder.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  // It can be given a name only by way of this one.
  if (file_.open() && access(absl::StrCat("/proc/self/fd/", file_.get()).c_str(), F_OK) != 0) {
    file_ = Descriptor();
  }
  return file_.open();
}

bool ReplacementFile::OpenNamed(const OutputTarget& target, mode_t mode) {
  for (int i = 0; i < kMostNames; ++i) {
    name_ = RandomName();
    file_ = Descriptor(openat(target.folder.get(), name_.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (file_.open()) return true;
    if (errno != EEXIST) break;
  }
  name_.clear();
  return false;
}

bool ReplacementFile::Open(const OutputTarget& target, const struct stat* existing) {
  constexpr mode_t kForEverybody = 0666;  // as far as the process's mask allows
  constexpr mode_t kPermissions = 0777;
  const mode_t mode = existing == nullptr ? kForEverybody : existing->st_mode & kPermissions;
  if (!OpenUnnamed(target, mode) && !OpenNamed(target, mode)) return false;
  if (existing == nullptr) return true;
  struct stat info = {};
  if (fstat(file_.get(), &info) != 0) return false;
  const bool same_owner = info.st_uid == existing->st_uid && info.st_gid == existing->st_gid;
  if (!same_owner && fchown(file_.get(), existing->st_uid, existing->st_gid) != 0) return false;
  return fchmod(file_.get(), mode) == 0;
}

bool ReplacementFile::Finish(const OutputTarget& target) {
  const std::string self = absl::StrCat("/proc/self/fd/", file_.get());
  for (int i = 0; name_.empty(); ++i) {
    std::string name = RandomName();
    if (linkat(AT_FDCWD, self.c_str(), target.folder.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      name_ = std::move(name);
    } else if (errno != EEXIST || i == kMostNames) {
      return false;
    }
  }
  return file_.Close();
}

bool ReplacementFile::Rename(const OutputTarget& target, bool undoable) {
  const int folder = target.folder.get();
  if (undoable) {
    if (renameat2(folder, name_.c_str(), folder, target.name.c_str(), RENAME_EXCHANGE) == 0) {
      renamed_ = Renamed::kExchanged;
      return true;
    }
    if (errno == ENOENT &&
        renameat2(folder, name_.c_str(), folder, target.name.c_str(), RENAME_NOREPLACE) == 0) {
      renamed_ = Renamed::kNew;
      name_.clear();
      return true;
    }
  }
  // The last of several, or a file system that cannot exchange.
  if (renameat(folder, name_.c_str(), folder, target.name.c_str()) != 0) return false;
  renamed_ = Renamed::kForGood;
  name_.clear();
  return true;
}

void ReplacementFile::UndoRename(const OutputTarget& target) {
  const int folder = target.folder.get();
  if (renamed_ == Renamed::kNew) unlinkat(folder, target.name.c_str(), 0);
  if (renamed_ == Renamed::kExchanged) {
    renameat2(folder, name_.c_str(), folder, target.name.c_str(), RENAME_EXCHANGE);
  }
  renamed_ = Renamed::kNo;
}

void ReplacementFile::Remove(const OutputTarget& target) {
  if (!name_.empty()) unlinkat(target.folder.get(), std::exchange(name_, {}).c_str(), 0);
}

}  // namespace devlink::internal
