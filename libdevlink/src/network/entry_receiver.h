// SPDX-License-Identifier: Apache-2.0
//
// Takes an entry from a server piece by piece, and stops it as soon as it can be none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/bounded_reader.h"
#include "cache/entry.h"

namespace devlink::internal {

// For one thread.
class EntryReceiver {
 public:
  explicit EntryReceiver(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // False where no more is wanted; Finish then says why. May throw where memory runs out.
  bool Append(base::Bytes piece);

  // Whether all that came is the entry of that key, whose bytes then move to `value`.
  absl::Status Finish(const CacheKey& key, std::vector<std::uint8_t>& value);

 private:
  bool Refuse(std::string_view why);

  const std::uint64_t max_bytes_;
  EntryHeader header_ = {};
  std::size_t header_filled_ = 0;
  std::vector<std::uint8_t> value_;
  std::string_view refusal_;
};

}  // namespace devlink::internal
