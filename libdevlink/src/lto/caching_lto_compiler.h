// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/open_once.h"
#include "devlink/experimental/caching_lto_compiler.h"

namespace devlink::internal {

using OpenLtoCompiler = OpenOnce<LtoCompiler>::Open;

// With another way to open the compiler; the files of `options` still name it in the keys.
std::unique_ptr<CachingLtoCompiler> MakeCachingLtoCompiler(const LtoBackendOptions& options,
                                                           std::shared_ptr<CacheStore> store,
                                                           OpenLtoCompiler open);

}  // namespace devlink::internal
