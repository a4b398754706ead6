// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/guard.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "devlink/module.h"
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
  struct Entry {
    std::uint64_t hash = 0;
    ModuleRef module;
  };
  using List = std::list<Entry>;
  // Modules of one hash; their bytes are compared before two are taken for one.
  using Candidates = absl::InlinedVector<List::iterator, 1>;

  explicit State(ModulePoolOptions pool_options) : options(pool_options) {}

  // Without the lock: comparing bytes takes time, and what is compared here stays alive.
  ModuleRef Find(std::uint64_t hash, std::span<const std::uint8_t> wanted) {
    absl::InlinedVector<ModuleRef, 1> candidates;
    {
      const std::lock_guard lock(mutex);
      const auto found = by_hash.find(hash);
      if (found == by_hash.end()) return nullptr;
      for (const List::iterator entry : found->second) candidates.push_back(entry->module);
    }
    for (ModuleRef& module : candidates) {
      if (!std::ranges::equal(module->bytes(), wanted)) continue;
      const std::lock_guard lock(mutex);
      ++use.hits;
      const auto entry = EntryOf(hash, module);
      if (entry != modules.end()) modules.splice(modules.begin(), modules, entry);
      return std::move(module);
    }
    return nullptr;
  }

  const ModulePoolOptions options;
  // Not Abseil's, whose locks the thread sanitizer cannot see where Abseil is a library of the
  // system.
  mutable std::mutex mutex;
  List modules;  // the one that was used last in front
  base::HashMap<std::uint64_t, Candidates> by_hash;
  std::uint64_t bytes = 0;
  ModulePoolUse use;

  // All that follow expect the lock.

  // The end of the list where the pool has forgotten the module.
  List::iterator EntryOf(std::uint64_t hash, const ModuleRef& module) {
    if (const auto found = by_hash.find(hash); found != by_hash.end()) {
      for (const List::iterator entry : found->second) {
        if (entry->module == module) return entry;
      }
    }
    return modules.end();
  }

  // `module`, or one of the same bytes that another thread added meanwhile.
  ModuleRef Add(std::uint64_t hash, ModuleRef module) {
    Candidates& candidates = by_hash[hash];
    for (const List::iterator entry : candidates) {
      if (std::ranges::equal(entry->module->bytes(), module->bytes())) {
        ++use.hits;
        return entry->module;
      }
    }
    modules.push_front({.hash = hash, .module = module});
    candidates.push_back(modules.begin());
    bytes += module->bytes().size();
    ++use.misses;
    return module;
  }

  // Moves the module to `out`, so that it is freed without the lock.
  void Forget(List::iterator entry, List& out) {
    const auto found = by_hash.find(entry->hash);
    found->second.erase(std::find(found->second.begin(), found->second.end(), entry));
    if (found->second.empty()) by_hash.erase(found);
    bytes -= entry->module->bytes().size();
    out.splice(out.end(), modules, entry);
  }

  // Back to the bound, as far as nobody else refers to the modules.
  void Shrink(List& out) {
    // Those in use go to the front, where they are not looked at again soon: not too many at a
    // time, since a call must not take the longer the more modules there are.
    constexpr int kMostInUse = 16;
    int in_use = 0;
    while (options.max_bytes != 0 && bytes > options.max_bytes && in_use < kMostInUse) {
      const auto last = std::prev(modules.end());
      // With the lock nobody can get a reference here, and only the pool's own is left.
      if (last->module.use_count() == 1) {
        Forget(last, out);
        ++use.forgotten;
      } else {
        modules.splice(modules.begin(), modules, last);
        ++in_use;
      }
    }
  }
};

ModulePool::ModulePool(ModulePoolOptions options) : state_(std::make_unique<State>(options)) {}
ModulePool::~ModulePool() = default;

absl::StatusOr<ModuleRef> ModulePool::AddCubin(std::vector<std::uint8_t> bytes) {
  return base::Guard([&]() -> absl::StatusOr<ModuleRef> {
    const std::uint64_t hash = ContentHash(bytes);
    if (ModuleRef known = state_->Find(hash, bytes)) return known;
    // Reading a module takes time; it is done without the lock, and a thread that was faster wins.
    DEVLINK_ASSIGN_OR_RETURN(ModuleRef module, internal::Module::Load(std::move(bytes)));
    State::List forgotten;
    const std::lock_guard lock(state_->mutex);
    module = state_->Add(hash, std::move(module));
    state_->Shrink(forgotten);
    return module;
  });
}

absl::StatusOr<ModuleRef> ModulePool::AddCubin(std::span<const std::uint8_t> bytes) {
  return base::Guard([&]() -> absl::StatusOr<ModuleRef> {
    if (ModuleRef known = state_->Find(ContentHash(bytes), bytes)) return known;
    return AddCubin(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  });
}

bool ModulePool::Remove(const ModuleRef& module) {
  if (module == nullptr) return false;
  const std::uint64_t hash = ContentHash(module->bytes());
  State::List forgotten;
  const std::lock_guard lock(state_->mutex);
  const auto entry = state_->EntryOf(hash, module);
  if (entry == state_->modules.end()) return false;
  state_->Forget(entry, forgotten);
  return true;
}

void ModulePool::Clear() {
  State::List forgotten;
  const std::lock_guard lock(state_->mutex);
  forgotten.swap(state_->modules);
  state_->by_hash.clear();
  state_->bytes = 0;
}

std::size_t ModulePool::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->modules.size();
}

std::uint64_t ModulePool::bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->bytes;
}

ModulePoolUse ModulePool::use() const {
  const std::lock_guard lock(state_->mutex);
  return state_->use;
}

}  // namespace devlink
