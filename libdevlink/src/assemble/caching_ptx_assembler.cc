// SPDX-License-Identifier: Apache-2.0
#include "assemble/caching_ptx_assembler.h"

#include <optional>
#include <utility>

#include "assemble/backend.h"
#include "assemble/ptx_packing.h"
#include "assemble/ptxas_for_long_texts.h"
#include "base/file.h"
#include "base/guard.h"
#include "cache/cache_client.h"
#include "cache/file_identity.h"
#include "devlink/experimental/compile_executor.h"

namespace devlink {

namespace {

using internal::CacheClient;
using internal::IsForProgramAlone;
using internal::PackPtxResult;
using internal::UnpackPtxResult;
using internal::Way;

bool IsWanted(const Way& way, const PtxBackendOptions& options) {
  return (options.backend == PtxBackend::kAutomatic || options.backend == way.backend) &&
         !(options.*way.path).empty();
}

class CachingAssembler final : public CachingPtxAssembler {
 public:
  CachingAssembler(PtxBackendOptions options, std::shared_ptr<CacheStore> store,
                   internal::OpenPtxAssembler open)
      : options_(std::move(options)),
        cache_(std::move(store)),
        expected_(Expected(options_)),
        state_(StateOfTool()),
        tool_(KeyOfTool()),
        inner_(std::move(open)) {}

  [[nodiscard]] std::string_view name() const override {
    const auto* inner = inner_.opened();
    return inner != nullptr ? inner->name() : expected_.name;
  }
  [[nodiscard]] std::string_view version() const override {
    const auto* inner = inner_.opened();
    return inner != nullptr ? inner->version() : std::string_view();
  }
  [[nodiscard]] bool matches_nvlink() const override {
    const auto* inner = inner_.opened();
    return inner != nullptr ? inner->matches_nvlink() : expected_.matches_nvlink;
  }
  [[nodiscard]] CacheUse cache_use() const override { return cache_.Read(); }
  [[nodiscard]] unsigned jobs_elsewhere() const override {
    return options_.executor != nullptr ? options_.executor->Parallelism() : 0;
  }

  [[nodiscard]] std::optional<PtxResult> Find(const PtxJob& job) const override {
    if (internal::NameFiles(job.arguments)) return std::nullopt;
    return Find(job, KeyOf(job));
  }

  PtxResult Assemble(const PtxJob& job) const override {
    const bool keeps = !internal::NameFiles(job.arguments);
    const CacheKey key = KeyOf(job);
    if (auto found = keeps ? Find(job, key) : std::nullopt) return *std::move(found);
    cache_.CountMiss();
    const auto inner = inner_.Get();
    if (!inner.ok()) return {.status = inner.status()};
    PtxResult result = (*inner)->Assemble(job);
    if (keeps && result.status.ok() && !result.is_stand_in && IsOfTool(**inner)) {
      cache_.Store(key, PackPtxResult(job, result));
    }
    return result;
  }

 private:
  std::optional<PtxResult> Find(const PtxJob& job, const CacheKey& key) const {
    const auto found = cache_.Find(key);
    if (!found.has_value()) return std::nullopt;
    auto result = UnpackPtxResult(job, *found);
    if (!result.has_value() || result->cubin.size() > options_.max_output_bytes) {
      return std::nullopt;
    }
    cache_.CountHit();
    return result;
  }

  static const Way& Expected(const PtxBackendOptions& options) {
    for (const Way& way : internal::kWays) {
      if (IsWanted(way, options) && base::IsFile(options.*way.path)) return way;
    }
    return internal::kWays[0];
  }

  // Whether the keys tell what `inner` makes. What stands in for a tool that could not be loaded
  // makes other results elsewhere, and so does one that was replaced after it was looked at.
  [[nodiscard]] bool IsOfTool(const PtxAssembler& inner) const {
    return inner.name() == expected_.name && StateOfTool() == state_;
  }

  [[nodiscard]] CacheKey StateOfTool() const {
    CacheKeyBuilder builder("state of the PTX assembler");
    for (const Way& way : internal::kWays) {
      if (IsWanted(way, options_)) {
        builder.Key(way.name, internal::FileStateKey(options_.*way.path));
      }
    }
    return builder.Build();
  }

  // Everything that decides which tool it is and what else it sees. Where the first cannot be
  // loaded it is the next, so all of them count.
  [[nodiscard]] CacheKey KeyOfTool() const {
    CacheKeyBuilder builder("PTX assembler");
    for (const Way& way : internal::kWays) {
      if (!IsWanted(way, options_)) continue;
      builder.Key(way.name, cache_.KeyOfFile(options_.*way.path));
    }
    return builder.Texts("environment", options_.environment)
        .Texts("host environment", options_.host_environment)
        .Text("version text", options_.profile.version_text)
        .Text("build text", options_.profile.build_text)
        .Build();
  }

  // The tool never sees the name of the input.
  [[nodiscard]] CacheKey KeyOf(const PtxJob& job) const {
    return CacheKeyBuilder("PTX")
        .Key("tool", tool_)
        .Texts("arguments", job.arguments)
        .Number("by the program", IsForProgramAlone(options_, job.arguments) ? 1 : 0)
        .Number("report usage", job.report_usage ? 1 : 0)
        .Text("text", job.text.substr(0, job.text.find('\0')))
        .Build();
  }

  const PtxBackendOptions options_;
  mutable CacheClient cache_;
  const Way& expected_;
  const CacheKey state_;  // before the files were read for `tool_`
  const CacheKey tool_;
  mutable internal::OpenOnce<PtxAssembler> inner_;
};

}  // namespace

std::unique_ptr<CachingPtxAssembler> internal::MakeCachingPtxAssembler(
    const PtxBackendOptions& options, std::shared_ptr<CacheStore> store,
    internal::OpenPtxAssembler open) {
  return std::make_unique<CachingAssembler>(options, std::move(store), std::move(open));
}

absl::StatusOr<std::unique_ptr<CachingPtxAssembler>> CreateCachingPtxAssembler(
    const PtxBackendOptions& options, std::shared_ptr<CacheStore> store) try {
  if (store == nullptr) return absl::InvalidArgumentError("there is no store for the cache");
  bool any = false;
  for (const Way& way : internal::kWays) {
    any |= IsWanted(way, options) && base::IsFile(options.*way.path);
  }
  if (!any) {
    const auto opened = CreatePtxAssembler(options);
    return opened.ok() ? absl::NotFoundError("the assembler for PTX is not a regular file")
                       : opened.status();
  }
  return internal::MakeCachingPtxAssembler(options, std::move(store),
                                           [options] { return CreatePtxAssembler(options); });
} catch (...) {
  return base::StatusOfException();
}

}  // namespace devlink
