// SPDX-License-Identifier: Apache-2.0
#include "devlink/module_pool.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/status_macros.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"
#include "model/module.h"

namespace devlink {

namespace {

std::uint64_t ContentHash(std::span<const std::uint8_t> bytes) {
  return llvm::xxh3_64bits(llvm::ArrayRef<std::uint8_t>(bytes.data(), bytes.size()));
}

}  // namespace

struct ModulePool::State {
  // Not Abseil's, whose locks the thread sanitizer cannot see where Abseil is a library of the
  // system.
  mutable std::shared_mutex mutex;
  // Modules by hash of their bytes; bytes are compared before two are taken for one.
  absl::flat_hash_map<std::uint64_t, std::vector<ModuleRef>> modules;
  std::size_t count = 0;
  std::uint64_t bytes = 0;

  ModuleRef Find(std::uint64_t hash, std::span<const std::uint8_t> wanted) const {
    const auto found = modules.find(hash);
    if (found == modules.end()) return nullptr;
    for (const ModuleRef& module : found->second) {
      if (std::ranges::equal(module->bytes(), wanted)) return module;
    }
    return nullptr;
  }
};

ModulePool::ModulePool() : state_(std::make_unique<State>()) {}
ModulePool::~ModulePool() = default;

absl::StatusOr<ModuleRef> ModulePool::AddCubin(std::vector<std::uint8_t> bytes) {
  const std::uint64_t hash = ContentHash(bytes);
  {
    const std::shared_lock lock(state_->mutex);
    if (ModuleRef known = state_->Find(hash, bytes)) return known;
  }
  // Reading a module takes time; it is done without the lock, and a thread that was faster wins.
  DEVLINK_ASSIGN_OR_RETURN(ModuleRef module, internal::Module::Load(std::move(bytes)));
  const std::unique_lock lock(state_->mutex);
  if (ModuleRef known = state_->Find(hash, module->bytes())) return known;
  state_->modules[hash].push_back(module);
  ++state_->count;
  state_->bytes += module->bytes().size();
  return module;
}

absl::StatusOr<ModuleRef> ModulePool::AddCubin(std::span<const std::uint8_t> bytes) {
  {
    const std::uint64_t hash = ContentHash(bytes);
    const std::shared_lock lock(state_->mutex);
    if (ModuleRef known = state_->Find(hash, bytes)) return known;
  }
  return AddCubin(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

std::size_t ModulePool::size() const {
  const std::shared_lock lock(state_->mutex);
  return state_->count;
}

std::uint64_t ModulePool::bytes() const {
  const std::shared_lock lock(state_->mutex);
  return state_->bytes;
}

}  // namespace devlink
