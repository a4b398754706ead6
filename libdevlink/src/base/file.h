// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "devlink/environment.h"

namespace devlink::base {

// Reads a whole regular file. The bytes are read, not mapped, so that a file that another process
// truncates cannot take the linker down. NotFound where it cannot be opened or is not a regular
// file, ResourceExhausted where it is larger than `max_bytes`.
absl::StatusOr<std::vector<std::uint8_t>> ReadFile(const std::string& path,
                                                   std::uint64_t max_bytes);

// Whether a path leads to a regular file.
bool IsFile(const std::string& path);

// As ReadFile; the identity is that of the very file that was read.
absl::StatusOr<FileContents> ReadFileAndIdentity(const std::string& path, std::uint64_t max_bytes);

// Writes all of it to an open file. False where that fails; `errno` says why.
bool WriteAll(int file, Bytes bytes);
bool WriteAll(int file, std::string_view text);

}  // namespace devlink::base
