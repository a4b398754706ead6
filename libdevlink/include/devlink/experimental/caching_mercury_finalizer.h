// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/caching_mercury_finalizer.h
//
// A finalizer that first looks whether it has done the same work before. Only successes are kept.
// The library is loaded when something is not found; the contents of its file, read when the object
// is made, are part of every key, as are the target, the options and the bytes, names and order of
// the inputs. Thread-safe, as every MercuryFinalizer is. docs/cache.md has the details.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/mercury_finalizer.h"

namespace devlink {

// `version` is empty as long as nothing needed the library.
class CachingMercuryFinalizer : public MercuryFinalizer {
 public:
  // What happened so far.
  [[nodiscard]] virtual CacheUse cache_use() const = 0;
};

// NotFound, as from CreateMercuryFinalizer, where the file is not there; InvalidArgument without a
// store. A file that is there and cannot be loaded is reported by the status of every job.
absl::StatusOr<std::unique_ptr<CachingMercuryFinalizer>> CreateCachingMercuryFinalizer(
    const FinalizerOptions& options, std::shared_ptr<CacheStore> store);

}  // namespace devlink
