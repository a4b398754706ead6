// SPDX-License-Identifier: Apache-2.0
#include "cache/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace devlink::internal {

namespace {

// A file that was changed so lately may change again without its times showing it.
constexpr std::int64_t kUnsettledSeconds = 3;

absl::Status Unreadable(const std::string& path) {
  return absl::NotFoundError(absl::StrCat("cannot read '", path, "': ", std::strerror(errno)));
}

CacheKey KeyOfState(const struct stat& info) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  return CacheKeyBuilder("state of a file")
      .Number("device", number(info.st_dev))
      .Number("inode", number(info.st_ino))
      .Number("size", number(info.st_size))
      .Number("modified", number(info.st_mtim.tv_sec))
      .Number("modified ns", number(info.st_mtim.tv_nsec))
      .Number("changed", number(info.st_ctim.tv_sec))
      .Number("changed ns", number(info.st_ctim.tv_nsec))
      .Build();
}

absl::StatusOr<CacheKey> HashContents(int file, const std::string& path) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  CacheKeyBuilder builder("contents of a file");
  std::vector<std::uint8_t> chunk(kChunk);
  for (bool at_end = false; !at_end;) {
    // Full but for the last, so that the same contents always come in the same pieces.
    std::size_t filled = 0;
    while (filled < kChunk && !at_end) {
      const ssize_t count = read(file, chunk.data() + filled, kChunk - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Unreadable(path);
      at_end = count == 0;
      filled += static_cast<std::size_t>(count);
    }
    builder.Bytes("chunk", std::span(chunk).first(filled));
  }
  return builder.Build();
}

bool IsSettled(const struct stat& info) {
  timespec now = {};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  return std::max(info.st_ctim.tv_sec, info.st_mtim.tv_sec) + kUnsettledSeconds < now.tv_sec;
}

}  // namespace

CacheKey FileStateKey(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? KeyOfState(info) : CacheKeyBuilder("no file").Build();
}

std::optional<CacheKey> SettledFileStateKey(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || !IsSettled(info)) {
    return std::nullopt;
  }
  return KeyOfState(info);
}

absl::StatusOr<CacheKey> FileContentKey(const std::string& path, CacheStore* store,
                                        absl::Status& problem) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return Unreadable(path);
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat info = {};
  if (fstat(file, &info) != 0) return Unreadable(path);
  if (!S_ISREG(info.st_mode)) {
    return absl::NotFoundError(absl::StrCat("'", path, "' is not a regular file"));
  }
  const CacheKey state = KeyOfState(info);
  const bool settled = store != nullptr && IsSettled(info);
  if (settled) {
    const auto known = store->Find(state);
    CacheKey key;
    if (!known.ok()) {
      problem = known.status();
    } else if (known->has_value() && (*known)->size() == key.bytes.size()) {
      std::copy((*known)->begin(), (*known)->end(), key.bytes.begin());
      return key;
    }
  }
  DEVLINK_ASSIGN_OR_RETURN(const CacheKey key, HashContents(file, path));
  struct stat after = {};
  if (settled && fstat(file, &after) == 0 && KeyOfState(after) == state) {
    if (absl::Status stored = store->Store(state, key.bytes); !stored.ok()) problem = stored;
  }
  return key;
}

bool NameFiles(std::span<const std::string> words) {
  const auto is_there = [](std::string_view path) {
    struct stat info = {};
    return !path.empty() && stat(std::string(path).c_str(), &info) == 0;
  };
  const auto any_item = [&](std::string_view list) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      if (is_there(list.substr(0, end))) return true;
      list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
  };
  return std::ranges::any_of(words, [&](std::string_view word) {
    const std::size_t equal = word.find('=');
    const std::string_view value =
        equal == std::string_view::npos ? std::string_view() : word.substr(equal + 1);
    return is_there(word) || is_there(value) || any_item(word) || any_item(value);
  });
}

}  // namespace devlink::internal
