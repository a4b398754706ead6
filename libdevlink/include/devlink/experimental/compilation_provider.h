// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/compilation_provider.h
//
// What a JIT runtime asks of a toolchain: PTX becomes a cubin that can be loaded, or one that can
// be linked; cubins and PTX become one program. Each call stands by itself, leaves no files and
// needs no GPU; with the assembler in this process (ToolchainOptions) it starts no program either.
// What may go wrong has a status of its own kind, and what functions need is data, so that nobody
// has to read logs.
//
//   auto provider = devlink::CreateCompilationProvider({.toolchain = tools});
//   auto linked = provider->CompileAndLink(*devlink::Arch::Parse("sm_90a"), inputs, {});
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"
#include "devlink/environment.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/ptx_assembler.h"
#include "devlink/toolchain.h"
#include "devlink/toolkit_profile.h"

namespace devlink {

// How PTX is compiled, and cubins are linked. A plain value; equal values give equal output.
struct CompilationOptions {
  bool optimize = true;            // false: ptxas -O0
  bool line_info = false;          // ptxas -lineinfo
  bool debug_info = false;         // ptxas -g, and nvlink -g
  int max_registers = 0;           // per thread (ptxas -maxrregcount); 0 and less: no limit
  bool cancel_if_spilled = false;  // Cancelled where a function moves registers to memory
  // Further arguments of ptxas, one word each, behind all others; but not those that name the
  // target or the output, which are the provider's.
  std::vector<std::string> assembler_options;

  friend bool operator==(const CompilationOptions&, const CompilationOptions&) = default;
};

// One input of a link: PTX, without a NUL behind it, or a cubin that can be linked; also all else
// that a link takes from memory (LinkSession::AddInput). What it is, its bytes say. PTX inside of
// others, such as fat binaries, is assembled as nvlink does: the options that concern ptxas do not
// count for it, and what its functions need is not told.
struct CompilationInput {
  std::string name;                     // how diagnostics call it; the output does not depend on it
  std::span<const std::uint8_t> bytes;  // borrowed for the call
};

// What came of one call. A plain value, owned by the caller.
struct CompilationResult {
  // Of an input: InvalidArgument where it or an option is wrong, or where a text is for another
  // target; FailedPrecondition where a cubin is. Unimplemented where the assembler is too old for
  // the target or for the version of the PTX, ResourceExhausted where a function cannot do with the
  // registers that it may have, or where memory runs out. Cancelled where registers are spilled and
  // that was not wanted, or where the environment asked to stop. NotFound where there is no
  // assembler and PTX needs one, and where no input defines a name that code uses.
  absl::Status status;
  std::vector<std::uint8_t> cubin;          // empty unless `status` is ok
  std::vector<Diagnostic> diagnostics;      // word for word as ptxas and nvlink say it, in order
  std::vector<PtxFunctionUsage> functions;  // of all PTX, in its order; also where a link fails

  // Whether `status` is ok, and so `cubin` is there.
  [[nodiscard]] bool ok() const { return status.ok(); }
};

// A version of the PTX language, such as 9.0.
struct PtxIsaVersion {
  int major = 0;  // 9 of 9.0
  int minor = 0;  // 0 of 9.0

  friend auto operator<=>(const PtxIsaVersion&, const PtxIsaVersion&) = default;
};

// What a provider can do on this machine.
struct CompilationCapabilities {
  bool compiles = false;  // there is an assembler; cubins are linked in any case
  // No program is started, and no file is written while PTX is compiled.
  bool within_process = false;
  std::string assembler;          // PtxAssembler::name; empty where there is none
  std::string assembler_version;  // PtxAssembler::version
};

// Which call a key is for.
enum class CompilationTask : std::uint8_t { kCompile, kCompileToRelocatable, kCompileAndLink };

// Thread-safe: any number of calls may run at once, and their output does not depend on that.
class CompilationProvider {
 public:
  virtual ~CompilationProvider() = default;

  // PTX to a cubin that can be loaded, which is a whole program.
  [[nodiscard]] virtual CompilationResult Compile(Arch target, std::string_view ptx,
                                                  const CompilationOptions& options) const = 0;

  // PTX to a cubin that can be linked (ptxas -c).
  [[nodiscard]] virtual CompilationResult CompileToRelocatable(
      Arch target, std::string_view ptx, const CompilationOptions& options) const = 0;

  // Inputs, in link order, to one program that can be loaded: the bytes that nvlink writes for
  // them. No inputs give no bytes, and are not an error.
  [[nodiscard]] virtual CompilationResult CompileAndLink(
      Arch target, std::span<const CompilationInput> inputs,
      const CompilationOptions& options) const = 0;

  // The latest version of PTX that the assembler reads. The first call asks the assembler. NotFound
  // without one, Internal where it does not say.
  [[nodiscard]] virtual absl::StatusOr<PtxIsaVersion> LatestPtxIsa() const = 0;

  // Opens the assembler if that has not been done.
  [[nodiscard]] virtual CompilationCapabilities Capabilities() const = 0;

  // Equal for calls that give the same bytes: made of the inputs' bytes, the options, the target,
  // and the versions of assembler and library; of links for sm_100 and later also of whether there
  // is a finalizer, and its version, which one in a process of its own does not tell. Names of
  // inputs do not count. FailedPrecondition where an option names a file, whose content it cannot
  // tell; NotFound where PTX is among the inputs and there is no assembler.
  [[nodiscard]] virtual absl::StatusOr<CacheKey> KeyOf(CompilationTask task, Arch target,
                                                       std::span<const CompilationInput> inputs,
                                                       const CompilationOptions& options) const = 0;
};

// What a provider works with. A plain value.
struct CompilationProviderOptions {
  std::shared_ptr<Toolchain> toolchain;  // tools, shared with whoever likes; none: cubins only
  ToolkitProfile profile;                // whose nvlink the output is of
  ParallelOptions parallel;              // of one call, where it has several texts
  // Threads, memory and the wish to stop; borrowed, outlives the provider. None: the machine's.
  const Environment* environment = nullptr;
};

// Makes a provider. Opens no tool yet: what is not there fails the call that needs it.
std::unique_ptr<CompilationProvider> CreateCompilationProvider(CompilationProviderOptions options);

}  // namespace devlink
