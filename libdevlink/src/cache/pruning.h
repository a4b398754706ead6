// SPDX-License-Identifier: Apache-2.0
//
// What has to go from the directory of a cache. The names are those that LLVM's pruning of such
// directories knows; its code ends the process where the system refuses it something.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace devlink::internal {

inline constexpr std::string_view kCacheEntryPrefix = "llvmcache-";

struct PruningPolicy {
  // The directory is left alone where any process has looked at it within that time.
  std::chrono::seconds interval = {};
  std::chrono::seconds max_age = {};  // since the last use; 0 for any
  std::uint64_t max_bytes = 0;        // of all entries; 0 for any
};

// Of an open directory. What cannot be examined or removed stays.
void PruneCache(int directory, const PruningPolicy& policy);

}  // namespace devlink::internal
