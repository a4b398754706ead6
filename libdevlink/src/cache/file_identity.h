// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"

namespace devlink::internal {

// Stands for the contents of a file. It is read only when its place, size or times are others than
// those that the store remembers, so that a library of many megabytes costs next to nothing. What
// the store says against it goes to `problem`. NotFound where there is no such regular file. The
// store is one of this machine alone; without one (null) the file is read.
absl::StatusOr<CacheKey> FileContentKey(const std::string& path, CacheStore* store,
                                        absl::Status& problem);

// Stands for the place, size and times of a file, which is not read: another one where the file was
// written to or replaced. One key for every path that leads to no file.
CacheKey FileStateKey(const std::string& path);

// The same of a regular file that has not been changed for some seconds, so that its times would
// show it. Nothing of others.
std::optional<CacheKey> SettledFileStateKey(const std::string& path);

// Whether one of a tool's words, the value behind its `=`, or an item of either between commas is
// the path of something that is there: a file of options, say. Then what the tool makes depends on
// more than its words, and files can name further ones, so that nothing of it may be kept.
bool NameFiles(std::span<const std::string> words);

}  // namespace devlink::internal
