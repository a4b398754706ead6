// SPDX-License-Identifier: Apache-2.0
//
// libdevlink_network_cache.so: devlink::CreateNetworkCache for the program devlink, which loads it
// where a command names a cache on a server.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/guard.h"
#include "devlink/experimental/network_cache.h"
#include "network/module_abi.h"

namespace {

using devlink::CacheKey;
using Cache = std::shared_ptr<devlink::CacheStore>;

CacheKey KeyOf(const std::uint8_t* bytes) {
  CacheKey key;
  std::copy_n(bytes, key.bytes.size(), key.bytes.begin());
  return key;
}

void Report(const absl::Status& status, devlink_network_cache_receiver* receive, void* user) {
  if (status.ok()) return;
  receive(user, static_cast<int>(status.code()), status.message().data(), status.message().size());
}

}  // namespace

void* devlink_network_cache_open_1(const char* url, devlink_network_cache_receiver* receive,
                                   void* user) {
  std::unique_ptr<Cache> out;
  Report(devlink::base::Guard([&]() -> absl::Status {
           auto made = devlink::CreateNetworkCache({.url = url});
           if (!made.ok()) return made.status();
           out = std::make_unique<Cache>(*std::move(made));
           return absl::OkStatus();
         }),
         receive, user);
  return out.release();
}

void devlink_network_cache_find_1(void* cache, const std::uint8_t* key,
                                  devlink_network_cache_receiver* receive, void* user) {
  Report(devlink::base::Guard([&]() -> absl::Status {
           const auto found = (*static_cast<Cache*>(cache))->Find(KeyOf(key));
           if (found.ok() && found->has_value()) {
             receive(user, 0, (*found)->data(), (*found)->size());
           }
           return found.status();
         }),
         receive, user);
}

void devlink_network_cache_store_1(void* cache, const std::uint8_t* key, const std::uint8_t* value,
                                   std::size_t size, devlink_network_cache_receiver* receive,
                                   void* user) {
  Report(devlink::base::Guard([&] {
           return (*static_cast<Cache*>(cache))->Store(KeyOf(key), std::span(value, size));
         }),
         receive, user);
}

void devlink_network_cache_close_1(void* cache) { delete static_cast<Cache*>(cache); }
