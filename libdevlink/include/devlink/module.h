// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/module.h
//
// A module: one cubin that was read and checked; what can be said of it without linking it; and the
// pool that keeps modules; and where a link finds those that it lacks. A JIT that links the same
// device library into every kernel adds it once and shares the pool between its sessions: each
// later session finds the module parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/arch.h"

namespace devlink {

namespace internal {
class Module;
}  // namespace internal

// A module is immutable and shared; it stays alive as long as anyone holds a reference. Modules
// come from a ModulePool. A reference may be copied and used on any thread.
using ModuleRef = std::shared_ptr<const internal::Module>;

// A function that a module defines. What the module does not record is empty.
struct ModuleFunction {
  std::string name;                        // mangled
  bool is_kernel = false;                  // the host can launch it
  std::uint64_t code_bytes = 0;            // instructions of its own body
  std::optional<std::uint32_t> registers;  // per thread, of its own body
  std::optional<std::uint32_t> barriers;   // of its own body
  // Local memory per thread, in bytes: of its own body, and of that with all that it calls as far
  // as the module knows; a link computes the latter anew.
  std::optional<std::uint32_t> frame_bytes;
  std::optional<std::uint32_t> stack_bytes;
  // Of kernels: shared memory per block that is not dynamic, as far as the module has laid it out.
  std::uint64_t shared_bytes = 0;
  // Banks of constants of its own, the parameters of a kernel included.
  std::uint64_t constant_bytes = 0;
  // Of kernels: the bank of their parameters, what the system keeps in front of them included.
  std::uint64_t parameter_bytes = 0;
};

// What a symbol stands for.
enum class SymbolKind : std::uint8_t {
  kUnknown,   // undefined, and the module does not say of what kind it is elsewhere
  kFunction,  // a kernel or a device function
  kVariable,  // of any memory
  kTexture,   // a texture reference
  kSampler,   // a sampler reference
  kSurface,   // a surface reference
};

// Where a variable lies.
enum class MemorySpace : std::uint8_t {
  kNone,      // not a variable, or in another space
  kGlobal,    // __device__ and __managed__
  kShared,    // __shared__, static or dynamic
  kConstant,  // __constant__, bank 3
};

// Which definition counts: a local one for its own module, a global one for all, and of several
// weak ones one of them.
enum class SymbolBinding : std::uint8_t { kLocal, kGlobal, kWeak };

// A named symbol of a module. Symbols of sections are left out.
struct ModuleSymbol {
  std::string name;                                // mangled
  SymbolKind kind = SymbolKind::kUnknown;          // kUnknown only of what is undefined
  SymbolBinding binding = SymbolBinding::kGlobal;  // local ones concern no other module
  MemorySpace space = MemorySpace::kNone;          // of variables
  bool is_defined = false;                         // else another input of the link must define it
  bool is_kernel = false;                          // a function that the host can launch
  bool is_managed = false;                         // a __managed__ variable
  std::uint64_t size = 0;  // in bytes; of undefined ones what the module says, or 0
};

// What a module says of itself. A plain value of its own, which outlives the module.
struct ModuleInfo {
  Arch arch;  // that it was compiled for
  // The release of the toolkit that made it, as 10 * major + minor (130 for 13.0); 0 where it does
  // not say.
  std::uint16_t toolkit = 0;
  // False for an executable cubin, which no link takes.
  bool is_relocatable = false;
  std::uint64_t bytes = 0;  // size of the file

  // Kernels and device functions that it defines, and all named symbols, in the order of its symbol
  // table.
  std::vector<ModuleFunction> functions;
  std::vector<ModuleSymbol> symbols;
};

// Looks into a module, which must not be null. Every call reads the module's tables again, so that
// modules in a pool stay small. Thread-safe. Never fails: what an executable cubin, whose tables
// are not checked when it is read, says that cannot be is left out.
ModuleInfo InspectModule(const ModuleRef& module);

// How much a pool keeps. A plain value.
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
  // Hits and misses since the pool was made.
  [[nodiscard]] ModulePoolUse use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A name that inputs of a link refer to and none defines.
struct UndefinedSymbol {
  std::string name;                        // mangled
  SymbolKind kind = SymbolKind::kUnknown;  // kUnknown where no input says
  std::vector<std::string> inputs;         // that refer to it, by name, in link order
};

// An input from memory, of any kind that LinkSession::AddInput takes.
struct MemoryInput {
  std::string name;                 // how diagnostics and the register file call it
  std::vector<std::uint8_t> bytes;  // what they are, they say themselves
};

// Told what a link lacks, and may add inputs that define it: a JIT that compiles on demand, or a
// build that keeps its own index of libraries.
class DefinitionProvider {
 public:
  virtual ~DefinitionProvider() = default;

  // Inputs that define some of these symbols, or none where there is nothing to add. They take part
  // in this one link, behind all others, in the order given; only a device runtime that stands last
  // stays last. The call is repeated for what they refer to in their turn, until nothing new is
  // undefined or nothing is added; each name is asked for once in a link. An error ends the link
  // and is its status. Called on the thread that links, which must not use the session meanwhile.
  // The same answers make the same output.
  virtual absl::StatusOr<std::vector<MemoryInput>> Provide(
      std::span<const UndefinedSymbol> undefined) = 0;
};

}  // namespace devlink
