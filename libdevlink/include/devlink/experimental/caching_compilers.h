// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/caching_compilers.h
//
// An assembler and an LTO compiler that first look whether they have done the same work before.
// Only successes are kept, with all that belongs to them: warnings, resource usage, pieces. The
// tools themselves are loaded when something is not found; a link that finds everything loads none.
// Which tool it would be is known without: the contents of its file, looked at when the object is
// made, are part of every key. Thread-safe, as what they stand for. docs/cache.md has the details.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "devlink/compile_cache.h"
#include "devlink/experimental/lto_compiler.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink {

// `name`, `version` and `matches_nvlink` are those of the assembler. As long as it was not needed,
// they are those of the one that is expected, whose version is not known and empty.
class CachingPtxAssembler : public PtxAssembler {
 public:
  // What happened so far.
  [[nodiscard]] virtual CacheUse cache_use() const = 0;
};

class CachingLtoCompiler : public LtoCompiler {
 public:
  [[nodiscard]] virtual CacheUse cache_use() const = 0;
};

// NotFound, as CreatePtxAssembler says it, where none of the files is there; InvalidArgument
// without a store. That a file is there and cannot be loaded is told by the status of every job
// that needs it.
absl::StatusOr<std::unique_ptr<CachingPtxAssembler>> CreateCachingPtxAssembler(
    const PtxBackendOptions& options, std::shared_ptr<CacheStore> store);

// The same for LTO. `name` is that of the expected compiler; LtoOutput::backend_name tells which
// one made the result. `takes_protected` may load it.
absl::StatusOr<std::unique_ptr<CachingLtoCompiler>> CreateCachingLtoCompiler(
    const LtoBackendOptions& options, std::shared_ptr<CacheStore> store);

}  // namespace devlink
