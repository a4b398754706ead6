// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/caching_lto_compiler.h
//
// An LTO compiler that first looks whether it has done the same work before. Only successes are
// kept, with all that belongs to them: warnings and pieces. The tool itself is loaded when
// something is not found; devlink/experimental/caching_ptx_assembler.h says the same of the
// assembler. Thread-safe, as every LtoCompiler is. docs/cache.md has the details.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/lto_compiler.h"

namespace devlink {

// A compiler of LTO IR that asks a cache first. Thread-safe as LtoCompiler is.
class CachingLtoCompiler : public LtoCompiler {
 public:
  // What happened so far.
  [[nodiscard]] virtual CacheUse cache_use() const = 0;
};

// Errors are those of CreateCachingPtxAssembler. `name` is that of the expected compiler;
// LtoOutput::backend_name tells which one made the result. `takes_protected` may load it.
absl::StatusOr<std::unique_ptr<CachingLtoCompiler>> CreateCachingLtoCompiler(
    const LtoBackendOptions& options, std::shared_ptr<CacheStore> store);

}  // namespace devlink
