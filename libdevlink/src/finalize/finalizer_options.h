// SPDX-License-Identifier: Apache-2.0
//
// What finalizers are told, and what is the same for all of them.
#pragma once

#include <chrono>
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
inline constexpr std::string_view kNvlinkName = "nvlink";

// Their words for the options of a job.
std::vector<std::string> FinalizerWords(const FinalizeJob& job);

// Unimplemented where the job has options of nvlink's.
absl::Status CheckNvJitLinkKnows(const FinalizeJob& job);

// False where it takes the cubin for the target as it is. nvlink makes code for sm_103 of cubins
// for sm_100 and sm_100f; libnvJitLink 13.0 refuses them, unless their header says that they are
// for sm_103, and then makes the same. `out` is that copy.
absl::StatusOr<bool> Retarget(std::span<const std::uint8_t> cubin, Arch target,
                              std::vector<std::uint8_t>& out);

inline bool MayBeNvlink(const FinalizerOptions& options) {
  return !options.nvlink_path.empty() && options.backend != FinalizerBackend::kNvJitLink;
}

inline bool MayBeNvJitLink(const FinalizerOptions& options) {
  return !options.nvjitlink_path.empty() && options.backend != FinalizerBackend::kNvlink;
}

// How long a process may work on it: it takes half a second for each MiB of code, and for ever
// where a capsule is damaged.
std::chrono::milliseconds TimeFor(const FinalizerOptions& options, const FinalizeJob& job);

// NotFound where the program of a finalizer cannot be run, FailedPrecondition where its files have
// no place.
absl::Status CheckProgram(const std::string& program, const FinalizerOptions& options);

// The lines of a log that say something; and these in one, for a message.
std::vector<std::string> LinesOf(std::string_view log);
std::string InOneLine(const std::vector<std::string>& lines);

// A finalizer that starts `options.nvlink_path` for each job. What that cannot do goes to the one
// that `otherwise` opens, where there is one.
absl::StatusOr<std::unique_ptr<MercuryFinalizer>> OpenNvlinkFinalizer(
    const FinalizerOptions& options, OpenOnce<MercuryFinalizer>::Open otherwise);

// A finalizer that starts `options.worker_path` for each job.
absl::StatusOr<std::unique_ptr<MercuryFinalizer>> OpenWorkerFinalizer(
    const FinalizerOptions& options);

// With another way to open the finalizer; the files of `options` still name it in the keys.
std::unique_ptr<CachingMercuryFinalizer> MakeCachingMercuryFinalizer(
    const FinalizerOptions& options, std::shared_ptr<CacheStore> store,
    OpenOnce<MercuryFinalizer>::Open open);

}  // namespace devlink::internal
