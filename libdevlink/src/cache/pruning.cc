// SPDX-License-Identifier: Apache-2.0
#include "cache/pruning.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace devlink::internal {

namespace {

constexpr const char* kTimestamp = "llvmcache.timestamp";

struct Entry {
  std::string name;
  timespec used = {};
  std::uint64_t size = 0;
};

bool IsEarlier(const timespec& one, const timespec& other) {
  return one.tv_sec != other.tv_sec ? one.tv_sec < other.tv_sec : one.tv_nsec < other.tv_nsec;
}

// Whether nobody has looked within the interval; from now on somebody has.
bool IsTime(int directory, std::chrono::seconds interval, std::time_t now) {
  struct stat info = {};
  if (fstatat(directory, kTimestamp, &info, AT_SYMLINK_NOFOLLOW) == 0) {
    const std::time_t last = info.st_mtim.tv_sec;
    if (last <= now && now - last < interval.count()) return false;
  }
  const int file =
      openat(directory, kTimestamp, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return false;  // else each result would have the directory searched
  const bool touched = futimens(file, nullptr) == 0;
  close(file);
  return touched;
}

std::vector<Entry> EntriesOf(int directory) {
  std::vector<Entry> out;
  const int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return out;
  const auto end = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(end)> list(fdopendir(own), end);
  if (list == nullptr) {
    close(own);
    return out;
  }
  while (const dirent* found = readdir(list.get())) {
    const std::string_view name = found->d_name;
    struct stat info = {};
    if (!name.starts_with(kCacheEntryPrefix) ||
        fstatat(directory, found->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(info.st_mode)) {
      continue;
    }
    out.push_back({.name = std::string(name),
                   .used = info.st_atim,
                   .size = static_cast<std::uint64_t>(info.st_size)});
  }
  return out;
}

}  // namespace

void PruneCache(int directory, const PruningPolicy& policy) {
  const std::time_t now = std::time(nullptr);
  if (!IsTime(directory, policy.interval, now)) return;
  std::vector<Entry> entries = EntriesOf(directory);
  std::ranges::sort(entries,
                    [](const Entry& a, const Entry& b) { return IsEarlier(a.used, b.used); });
  std::uint64_t size = 0;
  for (const Entry& entry : entries) size += entry.size;
  for (const Entry& entry : entries) {
    const bool old = policy.max_age.count() != 0 && entry.used.tv_sec < now &&
                     now - entry.used.tv_sec > policy.max_age.count();
    if (!old && (policy.max_bytes == 0 || size <= policy.max_bytes)) break;
    if (unlinkat(directory, entry.name.c_str(), 0) == 0) size -= entry.size;
  }
}

}  // namespace devlink::internal
