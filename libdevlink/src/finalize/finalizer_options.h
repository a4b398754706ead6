// SPDX-License-Identifier: Apache-2.0
//
// What libnvJitLink is told as a finalizer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/open_once.h"
#include "devlink/experimental/caching_mercury_finalizer.h"

namespace devlink::internal {

inline constexpr std::string_view kFinalizerName = "nvJitLink";

// Its words for the options of a job.
std::vector<std::string> FinalizerWords(const FinalizeJob& job);

// False where it takes the cubin for the target as it is. nvlink makes code for sm_103 of cubins
// for sm_100 and sm_100f; libnvJitLink 13.0 refuses them, unless their header says that they are
// for sm_103, and then makes the same. `out` is that copy.
absl::StatusOr<bool> Retarget(std::span<const std::uint8_t> cubin, Arch target,
                              std::vector<std::uint8_t>& out);

// A finalizer that starts `options.worker_path` for each job.
absl::StatusOr<std::unique_ptr<MercuryFinalizer>> OpenWorkerFinalizer(
    const FinalizerOptions& options);

// With another way to open the finalizer; the file of `options` still names it in the keys.
std::unique_ptr<CachingMercuryFinalizer> MakeCachingMercuryFinalizer(
    const FinalizerOptions& options, std::shared_ptr<CacheStore> store,
    OpenOnce<MercuryFinalizer>::Open open);

}  // namespace devlink::internal
