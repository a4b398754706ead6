// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace devlink::base {

// Reads a whole regular file. The bytes are read, not mapped, so that a file that another process
// truncates cannot take the linker down. NotFound where it cannot be opened or is no regular file,
// ResourceExhausted where it is larger than `max_bytes`.
absl::StatusOr<std::vector<std::uint8_t>> ReadFile(const std::string& path,
                                                   std::uint64_t max_bytes);

// Whether a path leads to a regular file.
bool IsFile(const std::string& path);

// Which file a path leads to: hard links and symbolic links of one file have the same.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

struct FileContents {
  std::vector<std::uint8_t> bytes;
  FileIdentity identity;
};

// As ReadFile; the identity is that of the very file that was read.
absl::StatusOr<FileContents> ReadFileAndIdentity(const std::string& path, std::uint64_t max_bytes);

}  // namespace devlink::base
