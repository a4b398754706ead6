// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace devlink::base
