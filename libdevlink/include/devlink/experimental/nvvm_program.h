// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/nvvm_program.h
//
// NVIDIA's libNVVM, loaded when it is needed: compiles LTO IR of several modules to PTX as nvlink
// has it compiled, and makes LTO IR from NVVM IR. docs/lto-backends.md tells how it is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/lto_ir.h"

namespace devlink {

namespace internal {
class LoadedNvvm;
struct NvvmFunctions;
}  // namespace internal

// Where libNVVM may lie if a person names `place`: the library itself, or a folder in which it
// stands as in a toolkit (nvvm/lib64, lib64: what nvlink -nvvmpath expects), in a wheel of PyPI
// (lib, nvidia/cu13/lib) or directly. In the order in which they are to be tried.
std::vector<std::string> NvvmLibraryFiles(std::string_view place);

// The first file that is there among those of the first place that has one. Looks nowhere else.
// NotFound, with what was tried, where there is none.
absl::StatusOr<std::string> FindNvvmLibrary(std::span<const std::string> places);

// A libNVVM. Copies share the library, which stays loaded for as long as the process lives.
// Thread-safe.
class NvvmLibrary {
 public:
  // `place` as for NvvmLibraryFiles. NotFound where no library is there, FailedPrecondition where
  // it cannot be loaded or lacks a function or a handle; the message names it.
  static absl::StatusOr<NvvmLibrary> Load(std::string_view place);

  // A library that the caller has opened with dlopen and keeps open longer than any copy of the
  // result. InvalidArgument for a null handle, FailedPrecondition as for Load.
  static absl::StatusOr<NvvmLibrary> FromHandle(void* handle);

  // The file it came from.
  [[nodiscard]] const std::string& path() const;
  // Of the interface, as nvvmVersion tells: "2.0". Empty where the library does not say.
  [[nodiscard]] const std::string& version() const;

 private:
  friend class NvvmProgram;
  explicit NvvmLibrary(std::shared_ptr<const internal::LoadedNvvm> library)
      : library_(std::move(library)) {}

  std::shared_ptr<const internal::LoadedNvvm> library_;
};

// What nvvmCompileProgram returns where it succeeds. The second, which nvvm.h does not name, says
// with -link-lto that the program is a whole one, to which nothing has to be linked.
inline constexpr int kNvvmSuccess = 0;
inline constexpr int kNvvmWholeProgram = 100;

// At which step a compilation ended.
enum class NvvmStep : std::uint8_t {
  kDone,     // none: it succeeded
  kLibrary,  // a copy of the library could not be loaded: see NvvmProgram
  kCreate,   // nvvmCreateProgram, nvvmDestroyProgram
  kAdd,      // a module was refused
  kCompile,  // nvvmCompileProgram
  kResult,   // what was compiled could not be had, or its sizes do not fit together
};

// What came of a compilation. A plain value, owned by the caller.
struct NvvmResult {
  // InvalidArgument where a module was refused or did not compile, FailedPrecondition where the
  // library lacks something or cannot be copied, ResourceExhausted beyond `max_bytes`, Internal
  // where the library's answers make no sense; `step` and `diagnostics` tell more.
  absl::Status status;
  NvvmStep step = NvvmStep::kDone;
  // What nvvmCompileProgram, or the function that failed, returned: kNvvmSuccess or
  // kNvvmWholeProgram where `status` is ok.
  int code = 0;
  std::string log;  // whatever the library said, also where all went well
  // What was compiled, without the NUL at its end: one text, with -split-compile-extended several,
  // whose order varies from run to run; LTO IR with -gen-lto. Empty unless `status` is ok.
  std::vector<std::string> pieces;
  // As nvlink words it: the log, and for a failure one fatal line with the explanation in its
  // notes.
  std::vector<Diagnostic> diagnostics;
};

// Modules to be compiled together. A value; one object is for one thread at a time, while any
// number of objects, also of one library, may compile at once: with libNVVM 13.0 many programs on 8
// threads came out as they do alone.
//
// One thing does pass from one compilation to the next, and to those that run at the same time:
// libNVVM keeps the words behind -Xopt, and -inline-info, for as long as it is loaded, and the
// first value wins. So compilations with words that are not known to be free of that have a copy of
// the library to themselves, which costs about 40 ms and the library's size in memory, and which is
// unloaded afterwards.
class NvvmProgram {
 public:
  explicit NvvmProgram(NvvmLibrary library) : library_(std::move(library)) {}

  // LTO IR in its container; nothing else is taken here. `name` appears in what libNVVM says. The
  // bytes are borrowed until the last Compile.
  void AddLtoIr(std::string name, std::span<const std::uint8_t> bytes);

  // NVVM IR, as text or bitcode.
  void AddNvvmIr(std::string name, std::span<const std::uint8_t> bytes);

  // Compiles all modules, in the order they were added. May be called repeatedly. `options` are
  // libNVVM's words, such as CiccOptionBuilder makes. A result of more than `max_bytes` is refused.
  [[nodiscard]] NvvmResult Compile(const std::vector<std::string>& options,
                                   std::uint64_t max_bytes = std::uint64_t{4} << 30) const;

 private:
  struct Module {
    std::string name;
    std::span<const std::uint8_t> bytes;
    bool is_lto_ir = true;
  };

  bool AddAll(const internal::NvvmFunctions& functions, void* program,
              const std::vector<std::string>& options, NvvmResult& result) const;
  void CompileAll(const internal::NvvmFunctions& functions, void* program,
                  const std::vector<std::string>& options, std::uint64_t max_bytes,
                  NvvmResult& result) const;

  NvvmLibrary library_;
  std::vector<Module> modules_;
};

// Compiles NVVM IR, as text or bitcode, to LTO IR in a container as nvcc makes it, protected. A
// kernel that nothing refers to must stand in `@llvm.used`, or a link for a whole program leaves it
// out. InvalidArgument with libNVVM's log where it refuses the module.
absl::StatusOr<std::vector<std::uint8_t>> MakeLtoIr(const NvvmLibrary& library,
                                                    std::span<const std::uint8_t> nvvm_ir,
                                                    Arch target);

// The versions that a libNVVM gives to LTO IR for a target, which are the newest that it reads for
// that target.
absl::StatusOr<LtoIrVersions> NewestLtoIr(const NvvmLibrary& library, Arch target);

}  // namespace devlink
