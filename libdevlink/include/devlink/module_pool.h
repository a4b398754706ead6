// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/module_pool.h
//
// Keeps the modules read from inputs. A JIT that links the same device library into every kernel
// adds it once and shares the pool between its sessions: each later session finds the module
// parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/module.h"

namespace devlink {

struct ModulePoolOptions {
  // Bound on the bytes of the files of all modules; 0 for none. Beyond it the pool forgets those
  // that were not used for longest. Modules that anybody else refers to cost memory either way and
  // are not forgotten, so the bound can be exceeded by what sessions use at the moment.
  std::uint64_t max_bytes = 0;
};

// How a pool was used. An AddCubin that fails counts for nothing.
struct ModulePoolUse {
  std::uint64_t hits = 0;       // the module was there
  std::uint64_t misses = 0;     // it was read
  std::uint64_t forgotten = 0;  // to stay within the bound; not by Remove or Clear
};

// Thread-safe. Modules with equal bytes are one module, whatever they are called. What the pool
// forgets stays alive for as long as a ModuleRef leads to it.
class ModulePool {
 public:
  explicit ModulePool(ModulePoolOptions options = {});
  ~ModulePool();
  ModulePool(const ModulePool&) = delete;
  ModulePool& operator=(const ModulePool&) = delete;

  // Reads and checks a cubin. The bytes are kept by the module. InvalidArgument, with what is wrong
  // and at which offset, for bytes that are not a well-formed relocatable or executable cubin.
  absl::StatusOr<ModuleRef> AddCubin(std::vector<std::uint8_t> bytes);

  // The same for bytes that the caller keeps; they are copied only if the pool does not have them
  // yet.
  absl::StatusOr<ModuleRef> AddCubin(std::span<const std::uint8_t> bytes);

  // Forgets a module; false where it is not in this pool. The same bytes added later are another
  // module.
  bool Remove(const ModuleRef& module);
  // Forgets all of them.
  void Clear();

  // Number of different modules in the pool, and the bytes of their files.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] ModulePoolUse use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace devlink
