// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/module_pool.h
//
// Holds the modules read from inputs. A JIT that links the same device library into every kernel
// adds it once and shares the pool between its sessions: each later session finds the module
// parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/module.h"

namespace devlink {

// Thread-safe. Modules with equal bytes are one module, whatever they are called.
class ModulePool {
 public:
  ModulePool();
  ~ModulePool();
  ModulePool(const ModulePool&) = delete;
  ModulePool& operator=(const ModulePool&) = delete;

  // Reads and checks a cubin. The bytes are kept by the module. InvalidArgument, with what is wrong
  // and at which offset, for bytes that are not a well-formed relocatable or executable cubin.
  absl::StatusOr<ModuleRef> AddCubin(std::vector<std::uint8_t> bytes);

  // The same for bytes that the caller keeps; they are copied only if the pool does not hold them
  // yet.
  absl::StatusOr<ModuleRef> AddCubin(std::span<const std::uint8_t> bytes);

  // Number of different modules held, and the bytes of their files.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace devlink
