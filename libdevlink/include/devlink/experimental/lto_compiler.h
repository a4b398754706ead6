// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/lto_compiler.h
//
// Compiles the LTO IR of a link to PTX, with libNVVM or with libnvJitLink. Which there are depends
// on the machine; paths decide. docs/lto-backends.md compares them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"

namespace devlink {

class CompileExecutor;

// One module of LTO IR.
struct LtoModule {
  std::string name;  // what diagnostics call it
  // Borrowed until the job is done. LTO IR in its container, or a fat binary with that member alone
  // (Fatbin::Isolate).
  std::span<const std::uint8_t> bytes;
  // A fat binary whose member is stored in the protected form that only NVIDIA's libraries read:
  // what `nvcc -dlto -c` makes unless told not to compress.
  bool is_protected = false;
};

// One compilation. Borrows the modules' bytes until it is done.
struct LtoJob {
  Arch target;                         // for which the PTX is made
  std::vector<LtoModule> modules;      // in the order of the command line
  std::vector<std::string> arguments;  // of libNVVM, from CiccOptionBuilder
  // Ends a compilation on another machine; what works in this process cannot be stopped.
  std::stop_token stop;
};

// What came of a compilation. A plain value, owned by the caller.
struct LtoOutput {
  // InvalidArgument where modules or arguments are wrong (`diagnostics` says why),
  // FailedPrecondition where the compiler cannot take a module or be loaded, Cancelled where the
  // caller stopped it, ResourceExhausted where the PTX is larger than
  // LtoBackendOptions::max_output_bytes, Internal where it failed itself.
  absl::Status status;
  // The compiler saw a whole program: the PTX is to be assembled without -c. Never where the
  // arguments force the other form or there are several pieces.
  bool whole_program = false;
  // PTX. One text unless -split-compile-extended made more, in an order that does not vary.
  std::vector<std::string> pieces;
  std::vector<Diagnostic> diagnostics;  // as nvlink words it
  std::string backend_name;             // LtoCompiler::name of what compiled, also after a failure
};

// A compiler. Thread-safe: Compile may run on several threads at once. The texts that it returns
// views of live as long as it does.
class LtoCompiler {
 public:
  virtual ~LtoCompiler() = default;
  // "libNVVM" or "libnvJitLink".
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Of the library's interface ("2.0", libNVVM) or of the library ("13.0", libnvJitLink); empty
  // where it is not known.
  [[nodiscard]] virtual std::string_view version() const = 0;
  // Whether it takes protected modules.
  [[nodiscard]] virtual bool takes_protected() const = 0;
  // How many jobs it does at a time on other machines; 0: they take threads and memory of this one.
  [[nodiscard]] virtual unsigned jobs_elsewhere() const;
  // Compiles all modules of the job to PTX. Blocks until that is done; a failure is a status in the
  // result.
  [[nodiscard]] virtual LtoOutput Compile(const LtoJob& job) const = 0;
};

// Which library compiles.
enum class LtoBackend : std::uint8_t {
  kAutomatic,  // libNVVM, but libnvJitLink where that is needed or is all there is
  kNvvm,       // libNVVM, which takes no protected modules
  kNvJitLink,  // libnvJitLink, which takes all modules
};

// Empty paths mean that there is no such library. Nothing is searched for.
struct LtoBackendOptions {
  LtoBackend backend = LtoBackend::kAutomatic;  // which library is to be loaded
  std::string nvvm_path;                        // a place as for NvvmLibraryFiles
  std::string nvjitlink_path;                   // of libnvJitLink.so.13
  std::string advice;                           // as in PtxBackendOptions
  // A module of the link is protected, which libNVVM cannot take.
  bool needs_protected = false;
  // As in PtxBackendOptions.
  std::vector<std::string> host_environment;
  // As in PtxBackendOptions.
  std::shared_ptr<const CompileExecutor> executor = nullptr;
  // Bound on the size of the PTX, all pieces together.
  std::uint64_t max_output_bytes = std::uint64_t{4} << 30;
};

// Loads a library. NotFound where what is asked for is not there, FailedPrecondition where it
// cannot be used; the message says what was tried and what to do.
absl::StatusOr<std::unique_ptr<LtoCompiler>> CreateLtoCompiler(const LtoBackendOptions& options);

}  // namespace devlink
