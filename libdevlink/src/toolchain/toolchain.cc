// SPDX-License-Identifier: Apache-2.0
#include "devlink/toolchain.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "devlink/experimental/caching_lto_compiler.h"
#include "devlink/experimental/caching_ptx_assembler.h"

namespace devlink {

struct Toolchain::State {
  // Links for other releases, or with protected LTO IR, want a tool of their own.
  struct OpenAssembler {
    std::uint16_t release = 0;
    std::unique_ptr<PtxAssembler> tool;
    const CachingPtxAssembler* caching = nullptr;  // the same, where there is a cache
  };
  struct OpenLtoCompiler {
    LtoBackend backend = LtoBackend::kAutomatic;
    bool needs_protected = false;
    std::unique_ptr<LtoCompiler> tool;
    const CachingLtoCompiler* caching = nullptr;
  };

  ToolchainOptions options;
  mutable std::mutex mutex;
  std::vector<OpenAssembler> assemblers;
  std::vector<OpenLtoCompiler> lto_compilers;
};

namespace {

// Keeps a tool that was made, with or without a cache, in `entry`.
template <typename Entry, typename Made>
absl::Status Keep(Made made, Entry& entry) {
  if (!made.ok()) return made.status();
  if constexpr (requires { made.value()->cache_use(); }) entry.caching = made.value().get();
  entry.tool = *std::move(made);
  return absl::OkStatus();
}

void AddUse(const CacheUse& use, CacheUse& sum) {
  sum.hits += use.hits;
  sum.misses += use.misses;
  sum.stored += use.stored;
  std::copy(use.problems.begin(), use.problems.end(), std::back_inserter(sum.problems));
}

}  // namespace

Toolchain::Toolchain(ToolchainOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}

Toolchain::~Toolchain() = default;

absl::StatusOr<const PtxAssembler*> Toolchain::Assembler(const ToolkitProfile& profile) {
  return base::Guard([&]() -> absl::StatusOr<const PtxAssembler*> {
    // Held while a tool is opened, so that nobody opens it a second time.
    const std::lock_guard lock(state_->mutex);
    for (const State::OpenAssembler& open : state_->assemblers) {
      if (open.release == profile.release) return open.tool.get();
    }
    PtxBackendOptions backend = state_->options.ptx;
    backend.profile = profile;
    State::OpenAssembler entry{.release = profile.release};
    const std::shared_ptr<CacheStore>& cache = state_->options.cache;
    absl::Status made = cache != nullptr ? Keep(CreateCachingPtxAssembler(backend, cache), entry)
                                         : Keep(CreatePtxAssembler(backend), entry);
    if (!made.ok()) return made;
    return state_->assemblers.emplace_back(std::move(entry)).tool.get();
  });
}

absl::StatusOr<const LtoCompiler*> Toolchain::CompilerOfLtoIr(bool needs_protected,
                                                              bool as_nvlink) {
  return base::Guard([&]() -> absl::StatusOr<const LtoCompiler*> {
    const std::lock_guard lock(state_->mutex);
    LtoBackendOptions backend = state_->options.lto;
    backend.needs_protected = needs_protected;
    if (as_nvlink && backend.backend == LtoBackend::kAutomatic && !needs_protected) {
      backend.backend = LtoBackend::kNvvm;
    }
    for (const State::OpenLtoCompiler& open : state_->lto_compilers) {
      // Never one that another link opened for more: which compiler it is shows in the output.
      if (open.backend == backend.backend && open.needs_protected == needs_protected) {
        return open.tool.get();
      }
    }
    State::OpenLtoCompiler entry{.backend = backend.backend, .needs_protected = needs_protected};
    const std::shared_ptr<CacheStore>& cache = state_->options.cache;
    absl::Status made = cache != nullptr ? Keep(CreateCachingLtoCompiler(backend, cache), entry)
                                         : Keep(CreateLtoCompiler(backend), entry);
    if (!made.ok()) return made;
    return state_->lto_compilers.emplace_back(std::move(entry)).tool.get();
  });
}

std::uint32_t Toolchain::tools_opened() const {
  const std::lock_guard lock(state_->mutex);
  return static_cast<std::uint32_t>(state_->assemblers.size() + state_->lto_compilers.size());
}

CacheUse Toolchain::cache_use() const {
  const std::lock_guard lock(state_->mutex);
  CacheUse sum;
  for (const auto& open : state_->assemblers) {
    if (open.caching != nullptr) AddUse(open.caching->cache_use(), sum);
  }
  for (const auto& open : state_->lto_compilers) {
    if (open.caching != nullptr) AddUse(open.caching->cache_use(), sum);
  }
  return sum;
}

}  // namespace devlink
