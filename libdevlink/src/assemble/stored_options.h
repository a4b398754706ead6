// SPDX-License-Identifier: Apache-2.0
//
// The option text of a fat binary's member comes from whoever made the file. What it may ask of the
// assembler is listed here; everything else, such as an option that names a file, is refused.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"

namespace devlink::internal {

// Threads that a file may ask for: tools start as many as they are told to, before they have work.
inline constexpr int kMostThreads = 256;

// InvalidArgument for the first of `words`, the option text of a member, that must not reach the
// assembler; the message names it and says why.
absl::Status CheckStoredOptions(std::span<const std::string> words);

}  // namespace devlink::internal
