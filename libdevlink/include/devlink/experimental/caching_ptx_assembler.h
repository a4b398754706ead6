// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/caching_ptx_assembler.h
//
// An assembler that first looks whether it has done the same work before. Only successes are kept,
// with all that belongs to them: warnings and resource usage. The tool itself is loaded when
// something is not found; a link that finds everything loads none. Which tool it would be is known
// without loading it: the contents of its file, read when the object is made, are part of every
// key. Thread-safe, as every PtxAssembler is. docs/cache.md has the details.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink {

// `name`, `version` and `matches_nvlink` are those of the assembler. As long as it was not needed,
// they are those of the one that is expected, whose version is not known and empty.
class CachingPtxAssembler : public PtxAssembler {
 public:
  // What happened so far.
  [[nodiscard]] virtual CacheUse cache_use() const = 0;
};

// NotFound, as from CreatePtxAssembler, where none of the files is there; InvalidArgument without a
// store. A file that is there and cannot be loaded is reported by the status of every job that
// needs it.
absl::StatusOr<std::unique_ptr<CachingPtxAssembler>> CreateCachingPtxAssembler(
    const PtxBackendOptions& options, std::shared_ptr<CacheStore> store);

}  // namespace devlink
