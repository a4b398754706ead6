// SPDX-License-Identifier: Apache-2.0
//
// Caches on servers, through libdevlink_network_cache.so: libcurl and the thirty libraries behind
// it would cost each start of the program more than a small link takes, and would have to be
// installed where nobody asks for such a cache.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// Loads the module beside the program. Its errors are those of CreateNetworkCache; NotFound where
// there is no module, FailedPrecondition where it cannot be loaded.
absl::StatusOr<std::shared_ptr<CacheStore>> OpenNetworkCache(const CommandContext& context,
                                                             const std::string& url);

}  // namespace devlink::internal
