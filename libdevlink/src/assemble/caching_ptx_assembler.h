// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/open_once.h"
#include "devlink/experimental/caching_ptx_assembler.h"

namespace devlink::internal {

using OpenPtxAssembler = OpenOnce<PtxAssembler>::Open;

// With another way to open the assembler; the files of `options` still name it in the keys.
std::unique_ptr<CachingPtxAssembler> MakeCachingPtxAssembler(const PtxBackendOptions& options,
                                                             std::shared_ptr<CacheStore> store,
                                                             OpenPtxAssembler open);

}  // namespace devlink::internal
