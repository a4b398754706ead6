// SPDX-License-Identifier: Apache-2.0
#include "lto/caching_lto_compiler.h"

#include <span>
#include <utility>

#include "base/file.h"
#include "base/guard.h"
#include "cache/cache_client.h"
#include "cache/file_identity.h"
#include "devlink/experimental/compile_executor.h"
#include "devlink/experimental/nvvm_program.h"
#include "lto/lto_backends.h"
#include "lto/lto_packing.h"

namespace devlink {

namespace {

using internal::CacheClient;
using internal::MayBeNvJitLink;
using internal::MayBeNvvm;
using internal::PackLtoOutput;
using internal::UnpackLtoOutput;

// Every file that could become the compiler, in the order in which they are tried.
std::vector<std::string> Candidates(const LtoBackendOptions& options) {
  std::vector<std::string> out;
  if (MayBeNvvm(options)) out = NvvmLibraryFiles(options.nvvm_path);
  if (MayBeNvJitLink(options)) out.push_back(options.nvjitlink_path);
  std::erase_if(out, [](const std::string& path) { return !base::IsFile(path); });
  return out;
}

class CachingCompiler final : public CachingLtoCompiler {
 public:
  CachingCompiler(LtoBackendOptions options, std::shared_ptr<CacheStore> store,
                  internal::OpenLtoCompiler open)
      : options_(std::move(options)),
        cache_(std::move(store)),
        expected_(Expected(options_)),
        state_(StateOfTool()),
        tool_(KeyOfTool()),
        inner_(std::move(open)) {}

  [[nodiscard]] std::string_view name() const override {
    const auto* inner = inner_.opened();
    return inner != nullptr ? inner->name() : expected_;
  }
  [[nodiscard]] std::string_view version() const override {
    const auto* inner = inner_.opened();
    return inner != nullptr ? inner->version() : std::string_view();
  }
  [[nodiscard]] bool takes_protected() const override {
    if (!MayBeNvvm(options_)) return true;
    if (!MayBeNvJitLink(options_)) return false;
    const auto inner = inner_.Get();
    return inner.ok() && (*inner)->takes_protected();
  }
  [[nodiscard]] CacheUse cache_use() const override { return cache_.Read(); }
  [[nodiscard]] unsigned jobs_elsewhere() const override {
    return options_.executor != nullptr ? options_.executor->Parallelism() : 0;
  }

  [[nodiscard]] LtoOutput Compile(const LtoJob& job) const override {
    const bool keeps = !internal::NameFiles(job.arguments);
    const CacheKey key = KeyOf(job);
    if (const auto found = keeps ? cache_.Find(key) : std::nullopt) {
      auto output = UnpackLtoOutput(*found, options_.max_output_bytes);
      if (output.has_value() && !output->pieces.empty()) {
        cache_.CountHit();
        return *std::move(output);
      }
    }
    cache_.CountMiss();
    const auto inner = inner_.Get();
    if (!inner.ok()) {
      LtoOutput output;
      output.status = inner.status();
      output.backend_name = name();
      return output;
    }
    LtoOutput output = (*inner)->Compile(job);
    if (keeps && output.status.ok() && IsOfTool(**inner)) cache_.Store(key, PackLtoOutput(output));
    return output;
  }

 private:
  static std::string_view Expected(const LtoBackendOptions& options) {
    const bool is_nvvm =
        MayBeNvvm(options) &&
        (!MayBeNvJitLink(options) || FindNvvmLibrary(std::span(&options.nvvm_path, 1)).ok());
    return is_nvvm ? internal::kNvvmName : internal::kNvJitLinkName;
  }

  // Whether the keys tell what `inner` makes. What stands in for a library that could not be loaded
  // makes other results elsewhere, and so does one that was replaced after it was looked at.
  [[nodiscard]] bool IsOfTool(const LtoCompiler& inner) const {
    return inner.name() == expected_ && StateOfTool() == state_;
  }

  [[nodiscard]] CacheKey StateOfTool() const {
    CacheKeyBuilder builder("state of the LTO compiler");
    for (const std::string& file : Candidates(options_)) {
      builder.Key("library", internal::FileStateKey(file));
    }
    return builder.Build();
  }

  [[nodiscard]] CacheKey KeyOfTool() const {
    CacheKeyBuilder builder("LTO compiler");
    builder.Number("choice", static_cast<std::uint64_t>(options_.backend))
        .Number("protected", options_.needs_protected ? 1 : 0)
        .Texts("host environment", options_.host_environment);
    for (const std::string& file : Candidates(options_)) {
      builder.Key("library", cache_.KeyOfFile(file));
    }
    return builder.Build();
  }

  // Names are part of what the compiler says.
  [[nodiscard]] CacheKey KeyOf(const LtoJob& job) const {
    CacheKeyBuilder builder("LTO");
    builder.Key("tool", tool_)
        .Text("target", job.target.Name())
        .Texts("arguments", job.arguments)
        .Number("modules", job.modules.size());
    for (const LtoModule& module : job.modules) {
      builder.Text("name", module.name)
          .Number("protected", module.is_protected ? 1 : 0)
          .Bytes("module", module.bytes);
    }
    return builder.Build();
  }

  const LtoBackendOptions options_;
  mutable CacheClient cache_;
  const std::string_view expected_;
  const CacheKey state_;  // before the files were read for `tool_`
  const CacheKey tool_;
  mutable internal::OpenOnce<LtoCompiler> inner_;
};

}  // namespace

std::unique_ptr<CachingLtoCompiler> internal::MakeCachingLtoCompiler(
    const LtoBackendOptions& options, std::shared_ptr<CacheStore> store,
    internal::OpenLtoCompiler open) {
  return std::make_unique<CachingCompiler>(options, std::move(store), std::move(open));
}

absl::StatusOr<std::unique_ptr<CachingLtoCompiler>> CreateCachingLtoCompiler(
    const LtoBackendOptions& options, std::shared_ptr<CacheStore> store) try {
  if (store == nullptr) return absl::InvalidArgumentError("there is no store for the cache");
  if (Candidates(options).empty()) {
    const auto opened = CreateLtoCompiler(options);
    return opened.ok() ? absl::NotFoundError("the LTO compiler is not a regular file")
                       : opened.status();
  }
  return internal::MakeCachingLtoCompiler(options, std::move(store),
                                          [options] { return CreateLtoCompiler(options); });
} catch (...) {
  return base::StatusOfException();
}

}  // namespace devlink
