// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a tar archive (POSIX.1-2001: ustar headers, pax records for long names).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::internal {

// What stands in front of a file's bytes. Owner, group and time are nobody's and none, so that the
// same files make the same archive. `name` is relative.
std::string TarHeader(std::string_view name, std::uint64_t size, bool executable = false);
// Zeros behind a file's bytes.
std::string TarPadding(std::uint64_t size);
// Behind the last file.
std::string TarEnd();

}  // namespace devlink::internal
