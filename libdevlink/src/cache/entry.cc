// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/BLAKE3.h"

namespace devlink::internal {

namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'d', 'e', 'v', 'l', 'i', 'n', 'k', 1};

std::array<std::uint8_t, 32> DigestOf(const CacheKey& key, base::Bytes value) {
  llvm::BLAKE3 hash;
  hash.update(llvm::ArrayRef<std::uint8_t>(key.bytes.data(), key.bytes.size()));
  hash.update(llvm::ArrayRef<std::uint8_t>(value.data(), value.size()));
  return hash.final();
}

}  // namespace

EntryHeader HeaderOfEntry(const CacheKey& key, base::Bytes value) {
  return {.magic = kMagic, .size = value.size(), .digest = DigestOf(key, value)};
}

bool IsEntryHeader(const EntryHeader& header) { return header.magic == kMagic; }

bool IsWholeEntry(const EntryHeader& header, const CacheKey& key, base::Bytes value) {
  return IsEntryHeader(header) && header.size == value.size() &&
         header.digest == DigestOf(key, value);
}

}  // namespace devlink::internal
