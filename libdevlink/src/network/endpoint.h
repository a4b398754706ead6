// SPDX-License-Identifier: Apache-2.0
//
// The address of a cache's server, taken apart.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace devlink::internal {

enum class Protocol { kHttp, kRedis };

struct Endpoint {
  Protocol protocol = Protocol::kHttp;
  std::string shown;   // the address without user and password, for messages
  std::string base;    // what libcurl connects to: scheme, host, port and, of HTTP, the path
  std::string socket;  // of Redis: the path of a Unix domain socket, in place of the host
  std::string user;
  std::string password;
  unsigned database = 0;  // of Redis
};

// InvalidArgument with a message that names no password.
absl::StatusOr<Endpoint> ParseEndpoint(const std::string& url);

}  // namespace devlink::internal
