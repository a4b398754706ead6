// SPDX-License-Identifier: Apache-2.0
//
// What the users of a store share: counting, and going on without it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devlink/experimental/compile_cache.h"

namespace devlink::internal {

// Thread-safe.
class CacheClient {
 public:
  explicit CacheClient(std::shared_ptr<CacheStore> store) : store_(std::move(store)) {}

  // The stored bytes, or nothing, also where the store does not work. Counts nothing.
  std::optional<std::vector<std::uint8_t>> Find(const CacheKey& key);
  void Store(const CacheKey& key, std::span<const std::uint8_t> value);
  void CountHit();
  void CountMiss();

  // The key of a file's contents, or, where the store is of this process alone, of a file that
  // rests; where it cannot be read, a key that says so.
  CacheKey KeyOfFile(const std::string& path);

  CacheUse Read() const;

 private:
  void Report(const absl::Status& status);

  std::shared_ptr<CacheStore> store_;
  mutable std::mutex mutex_;
  CacheUse use_;
};

}  // namespace devlink::internal
