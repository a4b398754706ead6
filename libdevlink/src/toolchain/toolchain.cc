// SPDX-License-Identifier: Apache-2.0
#include "devlink/toolchain.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "cache/open_once.h"
#include "devlink/experimental/caching_lto_compiler.h"
#include "devlink/experimental/caching_mercury_finalizer.h"
#include "devlink/experimental/caching_ptx_assembler.h"

namespace devlink {

namespace {

template <typename Tool, typename CachingTool>
struct Opened {
  std::unique_ptr<Tool> tool;
  const CachingTool* caching = nullptr;  // the same, where there is a cache
};

template <typename OpenedTool>
absl::StatusOr<std::unique_ptr<OpenedTool>> Keep(auto made) {
  if (!made.ok()) return made.status();
  auto out = std::make_unique<OpenedTool>();
  if constexpr (requires { made.value()->cache_use(); }) out->caching = made.value().get();
  out->tool = *std::move(made);
  return out;
}

void AddUse(const CacheUse& use, CacheUse& sum) {
  sum.hits += use.hits;
  sum.misses += use.misses;
  sum.stored += use.stored;
  sum.faults += use.faults;
  std::copy(use.problems.begin(), use.problems.end(), std::back_inserter(sum.problems));
}

// Links for other releases, or with protected LTO IR, want a tool of their own. Never one that
// another link opened for more: which compiler it is shows in the output.
struct AssemblerKey {
  std::uint16_t release = 0;
  friend bool operator==(const AssemblerKey&, const AssemblerKey&) = default;
};
struct LtoCompilerKey {
  LtoBackend backend = LtoBackend::kAutomatic;
  bool needs_protected = false;
  friend bool operator==(const LtoCompilerKey&, const LtoCompilerKey&) = default;
};
struct FinalizerKey {
  friend bool operator==(const FinalizerKey&, const FinalizerKey&) = default;
};

// The tools of one kind. Thread-safe. Nobody waits for a tool that somebody else wants.
template <typename Key, typename Tool, typename CachingTool>
class Tools {
 public:
  using OpenedTool = Opened<Tool, CachingTool>;
  using Once = internal::OpenOnce<OpenedTool>;

  absl::StatusOr<const Tool*> Get(const Key& key, typename Once::Open open) {
    DEVLINK_ASSIGN_OR_RETURN(const OpenedTool* opened, Place(key, std::move(open)).Get());
    return opened->tool.get();
  }

  void AddTo(std::uint32_t& count, CacheUse& sum) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, once] : tools_) {
      const OpenedTool* opened = once->opened();
      if (opened == nullptr) continue;
      ++count;
      if (opened->caching != nullptr) AddUse(opened->caching->cache_use(), sum);
    }
  }

 private:
  Once& Place(const Key& key, typename Once::Open open) {
    const std::lock_guard lock(mutex_);
    for (const auto& [other, once] : tools_) {
      if (other == key) return *once;
    }
    return *tools_.emplace_back(key, std::make_unique<Once>(std::move(open))).second;
  }

  mutable std::mutex mutex_;
  std::vector<std::pair<Key, std::unique_ptr<Once>>> tools_;
};

}  // namespace

struct Toolchain::State {
  using Assemblers = Tools<AssemblerKey, PtxAssembler, CachingPtxAssembler>;
  using LtoCompilers = Tools<LtoCompilerKey, LtoCompiler, CachingLtoCompiler>;
  using Finalizers = Tools<FinalizerKey, MercuryFinalizer, CachingMercuryFinalizer>;

  ToolchainOptions options;
  Assemblers assemblers;
  LtoCompilers lto_compilers;
  Finalizers finalizers;
};

Toolchain::Toolchain(ToolchainOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}

Toolchain::~Toolchain() = default;

absl::StatusOr<const PtxAssembler*> Toolchain::Assembler(const ToolkitProfile& profile) {
  using Opened = State::Assemblers::OpenedTool;
  const auto open = [this, profile]() -> absl::StatusOr<std::unique_ptr<Opened>> {
    PtxBackendOptions backend = state_->options.ptx;
    backend.profile = profile;
    const std::shared_ptr<CacheStore>& cache = state_->options.cache;
    return cache != nullptr ? Keep<Opened>(CreateCachingPtxAssembler(backend, cache))
                            : Keep<Opened>(CreatePtxAssembler(backend));
  };
  return base::Guard([&] { return state_->assemblers.Get({profile.release}, open); });
}

absl::StatusOr<const LtoCompiler*> Toolchain::CompilerOfLtoIr(bool needs_protected,
                                                              bool as_nvlink) {
  using Opened = State::LtoCompilers::OpenedTool;
  LtoCompilerKey key{state_->options.lto.backend, needs_protected};
  if (as_nvlink && key.backend == LtoBackend::kAutomatic && !needs_protected) {
    key.backend = LtoBackend::kNvvm;
  }
  const auto open = [this, key]() -> absl::StatusOr<std::unique_ptr<Opened>> {
    LtoBackendOptions backend = state_->options.lto;
    backend.needs_protected = key.needs_protected;
    backend.backend = key.backend;
    const std::shared_ptr<CacheStore>& cache = state_->options.cache;
    return cache != nullptr ? Keep<Opened>(CreateCachingLtoCompiler(backend, cache))
                            : Keep<Opened>(CreateLtoCompiler(backend));
  };
  return base::Guard([&] { return state_->lto_compilers.Get(key, open); });
}

absl::StatusOr<const MercuryFinalizer*> Toolchain::Finalizer() {
  using Opened = State::Finalizers::OpenedTool;
  const auto open = [this]() -> absl::StatusOr<std::unique_ptr<Opened>> {
    const FinalizerOptions& backend = state_->options.finalizer;
    const std::shared_ptr<CacheStore>& cache = state_->options.cache;
    return cache != nullptr ? Keep<Opened>(CreateCachingMercuryFinalizer(backend, cache))
                            : Keep<Opened>(CreateMercuryFinalizer(backend));
  };
  return base::Guard([&] { return state_->finalizers.Get({}, open); });
}

bool Toolchain::names_finalizer() const {
  const FinalizerOptions& named = state_->options.finalizer;
  return named.backend != FinalizerBackend::kAutomatic || !named.nvlink_path.empty() ||
         !named.nvjitlink_path.empty();
}

std::uint32_t Toolchain::tools_opened() const {
  std::uint32_t count = 0;
  CacheUse ignored;
  state_->assemblers.AddTo(count, ignored);
  state_->lto_compilers.AddTo(count, ignored);
  state_->finalizers.AddTo(count, ignored);
  return count;
}

CacheUse Toolchain::cache_use() const {
  std::uint32_t ignored = 0;
  CacheUse sum;
  state_->assemblers.AddTo(ignored, sum);
  state_->lto_compilers.AddTo(ignored, sum);
  state_->finalizers.AddTo(ignored, sum);
  return sum;
}

}  // namespace devlink
