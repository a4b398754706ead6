// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/caching_mercury_finalizer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/guard.h"
#include "cache/cache_client.h"
#include "cache/file_identity.h"
#include "cache/serial.h"
#include "finalize/finalizer_options.h"

namespace devlink {

namespace {

using internal::CacheClient;
using internal::FieldReader;
using internal::FieldWriter;
using internal::MayBeNvJitLink;
using internal::MayBeNvlink;

std::vector<std::uint8_t> Pack(const Finalized& made) {
  FieldWriter writer;
  writer.Bytes(made.cubin);
  writer.Texts(made.messages);
  writer.Text(made.tool);
  return writer.bytes();
}

// Nothing where the bytes are not what Pack makes. The cubin stays in their memory: as much again
// would take longer than to move it to the front.
std::optional<Finalized> Unpack(std::vector<std::uint8_t> bytes) {
  FieldReader reader(bytes);
  Finalized out;
  const auto cubin = reader.Bytes();
  out.messages = reader.Texts();
  out.tool = reader.Text();
  if (!reader.AtEnd() || cubin.empty()) return std::nullopt;
  const auto begin = cubin.data() - bytes.data();
  bytes.resize(static_cast<std::size_t>(begin) + cubin.size());
  bytes.erase(bytes.begin(), bytes.begin() + begin);
  out.cubin = std::move(bytes);
  return out;
}

// Every place of what could become the finalizer, in the order in which they are tried. There may
// be nothing now, and something later.
std::vector<std::string> Places(const FinalizerOptions& options) {
  std::vector<std::string> out;
  if (MayBeNvlink(options)) out.push_back(options.nvlink_path);
  if (MayBeNvJitLink(options)) out.push_back(options.nvjitlink_path);
  return out;
}

class CachingFinalizer final : public CachingMercuryFinalizer {
 public:
  CachingFinalizer(FinalizerOptions options, std::shared_ptr<CacheStore> store,
                   internal::OpenOnce<MercuryFinalizer>::Open open)
      : options_(std::move(options)),
        cache_(std::move(store)),
        places_(Places(options_)),
        state_(StateOfTools()),
        tool_(KeyOfTool()),
        inner_(std::move(open)) {}

  [[nodiscard]] std::string_view name() const override {
    const auto* inner = inner_.opened();
    return inner != nullptr ? inner->name() : ExpectedName();
  }
  [[nodiscard]] std::string_view version() const override {
    const auto* inner = inner_.opened();
    return inner != nullptr ? inner->version() : std::string_view();
  }
  [[nodiscard]] bool works_at_once() const override {
    return !options_.worker_path.empty() || ExpectedName() == internal::kNvlinkName;
  }
  [[nodiscard]] CacheUse cache_use() const override { return cache_.Read(); }

  [[nodiscard]] absl::StatusOr<Finalized> Finalize(const FinalizeJob& job) const override {
    return base::Guard([&]() -> absl::StatusOr<Finalized> {
      const CacheKey key = KeyOf(job);
      if (auto found = Find(key)) return *std::move(found);
      cache_.CountMiss();
      const auto inner = inner_.Get();
      if (!inner.ok()) return inner.status();
      auto made = (*inner)->Finalize(job);
      if (made.ok()) Keep(key, *made);
      return made;
    });
  }

  // What it is made of counts as missing, not this.
  [[nodiscard]] absl::StatusOr<Finalized> Remembered(
      const FinalizeJob& job, std::span<const std::uint8_t> own,
      const std::function<absl::StatusOr<Finalized>()>& make) const override {
    return base::Guard([&]() -> absl::StatusOr<Finalized> {
      const CacheKey key =
          CacheKeyBuilder("Mercury parts").Key("job", KeyOf(job)).Bytes("own", own).Build();
      if (auto found = Find(key)) return *std::move(found);
      auto made = make();
      if (made.ok()) Keep(key, *made);
      return made;
    });
  }

 private:
  [[nodiscard]] std::optional<Finalized> Find(const CacheKey& key) const {
    auto found = cache_.Find(key);
    if (!found) return std::nullopt;
    auto made = Unpack(*std::move(found));
    if (!made || made->cubin.size() > options_.max_output_bytes) return std::nullopt;
    cache_.CountHit();
    return made;
  }

  // A tool that was replaced after it was looked at is not the one that the key tells of.
  void Keep(const CacheKey& key, const Finalized& made) const {
    if (StateOfTools() == state_) cache_.Store(key, Pack(made));
  }

  [[nodiscard]] std::string_view ExpectedName() const {
    const bool is_nvlink = MayBeNvlink(options_) && base::IsFile(options_.nvlink_path);
    return is_nvlink ? internal::kNvlinkName : internal::kFinalizerName;
  }

  [[nodiscard]] CacheKey StateOfTools() const {
    CacheKeyBuilder builder("Mercury finalizer state");
    for (const std::string& place : places_) builder.Key("file", internal::FileStateKey(place));
    return builder.Build();
  }

  [[nodiscard]] CacheKey KeyOfTool() const {
    CacheKeyBuilder builder("Mercury finalizer");
    for (const std::string& place : places_) {
      // What is no path is looked for by the system.
      if (place.find('/') == std::string::npos) builder.Text("place", place);
      builder.Key("file", cache_.KeyOfFile(place));
    }
    return builder.Texts("host environment", options_.host_environment).Build();
  }

  // Names are part of what the tool says.
  [[nodiscard]] CacheKey KeyOf(const FinalizeJob& job) const {
    CacheKeyBuilder builder("Mercury");
    builder.Key("tool", tool_)
        .Number("release", job.release)
        .Texts("words", internal::FinalizerWords(job))
        .Texts("nvlink's options", job.nvlink_options)
        .Number("inputs", job.inputs.size());
    for (const FinalizeInput& input : job.inputs) {
      builder.Text("name", input.name).Bytes("cubin", input.bytes);
    }
    return builder.Build();
  }

  const FinalizerOptions options_;
  mutable CacheClient cache_;
  const std::vector<std::string> places_;
  const CacheKey state_;  // before the files were read for `tool_`
  const CacheKey tool_;
  mutable internal::OpenOnce<MercuryFinalizer> inner_;
};

}  // namespace

std::unique_ptr<CachingMercuryFinalizer> internal::MakeCachingMercuryFinalizer(
    const FinalizerOptions& options, std::shared_ptr<CacheStore> store,
    OpenOnce<MercuryFinalizer>::Open open) {
  return std::make_unique<CachingFinalizer>(options, std::move(store), std::move(open));
}

absl::StatusOr<std::unique_ptr<CachingMercuryFinalizer>> CreateCachingMercuryFinalizer(
    const FinalizerOptions& options, std::shared_ptr<CacheStore> store) try {
  if (store == nullptr) return absl::InvalidArgumentError("there is no store for the cache");
  if (std::ranges::none_of(Places(options), base::IsFile)) {
    const auto opened = CreateMercuryFinalizer(options);
    return opened.ok() ? absl::NotFoundError("the finalizer is not a regular file")
                       : opened.status();
  }
  return internal::MakeCachingMercuryFinalizer(
      options, std::move(store), [options] { return CreateMercuryFinalizer(options); });
} catch (...) {
  return base::StatusOfException();
}

}  // namespace devlink
