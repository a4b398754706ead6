// SPDX-License-Identifier: Apache-2.0
//
// How entries come from and go to one kind of server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_reader.h"
#include "devlink/experimental/network_cache.h"
#include "network/endpoint.h"

namespace devlink::internal {

// Thread-safe. Errors are those that devlink/experimental/network_cache.h names, without the name
// of the server.
class CacheEngine {
 public:
  virtual ~CacheEngine() = default;
  // What was stored under the key, verified; nothing where there is nothing.
  virtual absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Get(const CacheKey& key) = 0;
  virtual absl::Status Put(const CacheKey& key, base::Bytes value) = 0;
};

// What both kinds say.
inline absl::Status NoMemoryForRequest() {
  return absl::ResourceExhaustedError("no memory for a request");
}
inline absl::Status NoRoomFor(base::Bytes value) {
  return absl::ResourceExhaustedError(
      absl::StrCat("has no room for a result of ", value.size(), " bytes"));
}

std::unique_ptr<CacheEngine> CreateHttpEngine(const Endpoint& endpoint,
                                              const NetworkCacheOptions& options);
std::unique_ptr<CacheEngine> CreateRedisEngine(const Endpoint& endpoint,
                                               const NetworkCacheOptions& options);

}  // namespace devlink::internal
