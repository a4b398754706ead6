// SPDX-License-Identifier: Apache-2.0
//
// A cache directory as LLVM's pruning expects it: entries are called `llvmcache-KEY`, and the time
// of their last access says when they were last used. LLVM's own writer (llvm/Support/Caching.h)
// and pruning are left out: they end the process where a disk is full or a file cannot be closed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/random_number.h"
#include "base/strings.h"
#include "cache/entry.h"
#include "cache/pruning.h"
#include "devlink/experimental/compile_cache.h"

namespace devlink {

namespace {

using internal::EntryHeader;
using internal::kCacheEntryPrefix;

absl::Status SystemError(std::string_view what, const std::string& path) {
  const int error = errno;
  const std::string text = absl::StrCat("cache directory '", path, "': ", base::ToAbsl(what), ": ",
                                        std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::UnavailableError(text);
  }
}

enum class Got { kAll, kLess, kError };

Got ReadAll(int file, void* data, std::size_t size) {
  auto* next = static_cast<std::uint8_t*>(data);
  while (size > 0) {
    const ssize_t count = read(file, next, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? Got::kError : Got::kLess;
    next += count;
    size -= static_cast<std::size_t>(count);
  }
  return Got::kAll;
}

// Whether nobody else can have written it.
bool IsOursAlone(const struct stat& info) {
  return info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

class DirectoryCache final : public CacheStore {
 public:
  DirectoryCache(DirectoryCacheOptions options, int directory)
      : options_(std::move(options)), directory_(directory), salt_(base::RandomNumber()) {}
  DirectoryCache(const DirectoryCache&) = delete;
  DirectoryCache& operator=(const DirectoryCache&) = delete;
  ~DirectoryCache() override { close(directory_); }

  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Find(const CacheKey& key) override {
    const std::string name = base::Cat({kCacheEntryPrefix, key.Hex()});
    // Without waiting, in case somebody put a pipe there.
    const int file =
        openat(directory_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
      if (errno == ENOENT) return std::nullopt;
      return SystemError("cannot open an entry", options_.path);
    }
    const absl::Cleanup close_file = [file] { close(file); };
    std::vector<std::uint8_t> value;
    switch (Read(file, key, value)) {
      case Entry::kDamaged:
        unlinkat(directory_, name.c_str(), 0);
        return std::nullopt;
      case Entry::kTooLarge:
        return std::nullopt;
      case Entry::kUnread:
        return SystemError("cannot read an entry", options_.path);
      case Entry::kWhole:
        break;
    }
    // Mounts may not keep the time of access by themselves.
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_NOW},
                               {.tv_sec = 0, .tv_nsec = UTIME_OMIT}};
    (void)futimens(file, times);
    return value;
  }

  absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) override {
    if (value.size() > options_.max_entry_bytes ||
        (options_.max_bytes != 0 && value.size() > options_.max_bytes)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a result of ", value.size(), " bytes is too large for the cache"));
    }
    const std::string name = base::Cat({kCacheEntryPrefix, key.Hex()});
    // One that a crash leaves behind is pruned like any other.
    const std::string temporary = absl::StrCat(name, ".", getpid(), ".", salt_, ".", ++serial_);
    const int file = openat(directory_, temporary.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return SystemError("cannot make an entry", options_.path);
    const EntryHeader header = internal::HeaderOfEntry(key, value);
    const bool written =
        base::WriteAll(file, {reinterpret_cast<const char*>(&header), sizeof(header)}) &&
        base::WriteAll(file, value);
    absl::Status status;
    if (!written) status = SystemError("cannot write an entry", options_.path);
    if (close(file) != 0 && status.ok()) status = SystemError("cannot write", options_.path);
    if (status.ok() && renameat(directory_, temporary.c_str(), directory_, name.c_str()) != 0) {
      // Another process pruned it already: a cache may lose what it is given.
      if (errno == ENOENT) return absl::OkStatus();
      status = SystemError("cannot rename an entry", options_.path);
    }
    if (!status.ok()) {
      unlinkat(directory_, temporary.c_str(), 0);
      return status;
    }
    Prune(sizeof(header) + value.size());
    return absl::OkStatus();
  }

 private:
  enum class Entry {
    kWhole,
    kDamaged,   // not what was stored under the key
    kUnread,    // what is there the system does not say
    kTooLarge,  // for the bound of this process; another may have a use for it
  };

  Entry Read(int file, const CacheKey& key, std::vector<std::uint8_t>& value) const {
    struct stat info = {};
    if (fstat(file, &info) != 0) return Entry::kUnread;
    if (!S_ISREG(info.st_mode) || !IsOursAlone(info)) return Entry::kDamaged;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    EntryHeader header{};
    if (size < sizeof(header)) return Entry::kDamaged;
    if (const Got got = ReadAll(file, &header, sizeof(header)); got != Got::kAll) {
      return got == Got::kError ? Entry::kUnread : Entry::kDamaged;
    }
    if (!internal::IsEntryHeader(header) || header.size != size - sizeof(header)) {
      return Entry::kDamaged;
    }
    if (header.size > options_.max_entry_bytes) return Entry::kTooLarge;
    value.resize(header.size);
    const Got got = ReadAll(file, value.data(), value.size());
    if (got == Got::kError) return Entry::kUnread;
    const bool whole = got == Got::kAll && internal::IsWholeEntry(header, key, value);
    return whole ? Entry::kWhole : Entry::kDamaged;
  }

  // A directory is searched once in an interval. What this process writes in between must not grow
  // without bound either, so after a share of the whole it looks again.
  void Prune(std::uint64_t added) {
    internal::PruningPolicy policy = {.interval = options_.prune_interval,
                                      .max_age = options_.max_age,
                                      .max_bytes = options_.max_bytes};
    constexpr std::uint64_t kShare = 8;
    if (options_.max_bytes != 0) added_ += added;
    if (options_.max_bytes != 0 && added_ > options_.max_bytes / kShare) {
      added_ = 0;
      policy.interval = std::chrono::seconds(0);
    }
    internal::PruneCache(directory_, policy);
  }

  const DirectoryCacheOptions options_;
  const int directory_;
  const std::uint64_t salt_;
  std::atomic<std::uint64_t> serial_ = 0;
  std::atomic<std::uint64_t> added_ = 0;  // bytes since the last look
};

}  // namespace

absl::StatusOr<std::shared_ptr<CacheStore>> CreateDirectoryCache(
    DirectoryCacheOptions options) try {
  if (options.path.empty()) {
    return absl::InvalidArgumentError("the path of the cache directory is empty");
  }
  if (options.max_age.count() < 0 || options.prune_interval.count() < 0) {
    return absl::InvalidArgumentError("a time for the cache directory is negative");
  }
  std::error_code error;
  const std::filesystem::path path = options.path;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (mkdir(options.path.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("cannot be made", options.path);
  }
  const int directory = open(options.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return SystemError("cannot be opened", options.path);
  struct stat info = {};
  absl::Status usable;
  if (fstat(directory, &info) != 0) {
    usable = SystemError("cannot be examined", options.path);
  } else if (!IsOursAlone(info)) {
    usable = absl::PermissionDeniedError(absl::StrCat(
        "cache directory '", options.path,
        "': ", info.st_uid != geteuid() ? "belongs to somebody else" : "others may write to it",
        "; whoever can write to a cache decides what is linked, so use a directory of your own "
        "that "
        "nobody else may write to (chmod go-w)"));
  }
  if (!usable.ok()) {
    close(directory);
    return usable;
  }
  return std::make_shared<DirectoryCache>(std::move(options), directory);
} catch (...) {
  return base::StatusOfException();
}

}  // namespace devlink
