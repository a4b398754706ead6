// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/network_cache.h
//
// A store on a server, for the machines of a build farm: a directory that an HTTP server reads and
// writes, as Bazel and ccache use them, or a Redis server. A library of its own, which links
// libcurl and hiredis: the CMake component `network_cache` of the package, its target
// devlink::network_cache. docs/cache.md says how to run such servers, and whom one trusts with
// them.
//
//   auto shared = devlink::CreateNetworkCache({.url = "http://cache.example:8080/cuda"});
//   auto local = devlink::CreateDirectoryCache({.path = "/home/me/.cache/devlink"});
//   toolchain.cache = devlink::CreateTieredCache(*local, *shared);
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"

namespace devlink {

// Where the server is, and how long links wait for it. A plain value.
struct NetworkCacheOptions {
  // http://HOST[:PORT][/PATH] or https://: GET and PUT of PATH/ac/KEY, a key being 64 digits.
  // redis://HOST[:PORT][/DATABASE], rediss:// (over TLS) or redis+unix://localhost/SOCKET[?db=N]:
  // GET and SET of devlink:KEY. In front of the host USER:PASSWORD@, for Redis also PASSWORD@, with
  // %XX for letters that mean something there.
  std::string url;
  std::string bearer_token;      // sent with HTTP in place of a user; empty: none
  std::string certificate_file;  // PEM of whom to trust with TLS; empty: whom the system trusts
  // How long a server may take to be found and to accept a connection, and how long for a whole
  // request, in which nothing more is waited for. Both above 0.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(1);
  std::chrono::milliseconds request_timeout = std::chrono::seconds(10);
  // After so many faults in a row, or once so much time was lost, the store does not ask any more
  // for as long as it lives. Lost is the time of all faults, and of each answer what is beyond a
  // quarter of a second and a second for each MiB. Finding and storing are counted on their own;
  // where the server cannot be reached, that counts for both. The number is at least 1.
  std::uint32_t max_faults = 3;
  std::chrono::milliseconds max_lost_time = std::chrono::seconds(10);
  std::uint64_t max_entry_bytes = std::uint64_t{256} << 20;  // larger results are not kept
  std::chrono::seconds expiry = {};  // of what is stored in Redis; 0: what the server decides
  std::uint32_t max_idle_connections =
      16;  // kept open for the next request; not a bound on threads
};

// Contacts nobody yet. InvalidArgument for an address that it does not understand or an option out
// of its bounds. What does not work later is an error of the call: Unavailable and DeadlineExceeded
// where the server cannot be reached or takes too long, DataLoss where it has something else under
// the key than what was stored there, ResourceExhausted where it has no room, FailedPrecondition
// for any other answer. No text of an error has a password in it. Redirections are not followed;
// proxies, .netrc and other settings of the environment play no part.
//
// The store opens no files, starts no threads of its own but the resolver's, and raises no signal.
// Connections are not inherited by child processes.
absl::StatusOr<std::shared_ptr<CacheStore>> CreateNetworkCache(NetworkCacheOptions options);

}  // namespace devlink
