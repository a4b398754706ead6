// SPDX-License-Identifier: Apache-2.0
//
// How a result lies in a file or on a server: a header, then its bytes. Whoever reads an entry can
// tell from it alone whether it is whole, and what was stored under the key that was asked for.
#pragma once

#include <array>
#include <cstdint>

#include "base/bounded_reader.h"
#include "devlink/experimental/compile_cache.h"

namespace devlink::internal {

// In front of every entry, as it lies in memory: little-endian.
struct EntryHeader {
  std::array<std::uint8_t, 8> magic;    // with the version of the format
  std::uint64_t size;                   // of what follows
  std::array<std::uint8_t, 32> digest;  // of the key and what follows
};
static_assert(sizeof(EntryHeader) == 48);

EntryHeader HeaderOfEntry(const CacheKey& key, base::Bytes value);

// Whether an entry of this version of the format begins so; says nothing of its size.
bool IsEntryHeader(const EntryHeader& header);

// Whether `value` is what was stored under the key behind this header.
bool IsWholeEntry(const EntryHeader& header, const CacheKey& key, base::Bytes value);

}  // namespace devlink::internal
