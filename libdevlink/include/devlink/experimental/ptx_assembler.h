// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/ptx_assembler.h
//
// Turns PTX text into cubins with one of NVIDIA's assemblers: libnvptxcompiler (through a shared
// object of ours), the program ptxas, or libnvJitLink. Which there are depends on the machine, so
// nothing of them is linked in: a path decides. docs/ptx-assembly.md compares them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/environment.h"
#include "devlink/sinks.h"
#include "devlink/toolkit_profile.h"

namespace devlink {

class CompileExecutor;

// One PTX text to assemble.
struct PtxJob {
  std::string name;       // what diagnostics call the input; never shown to the tool
  std::string_view text;  // borrowed until the job is done; what follows a NUL is ignored
  std::vector<std::string> arguments;  // from PtxasOptionBuilder
  // Also report what every function needs. Changes neither the cubin nor the diagnostics.
  bool report_usage = false;
  // Ends a program that is at work on the text; what works in this process cannot be stopped.
  std::stop_token stop;
};

// What ptxas -v says of one function.
struct PtxFunctionUsage {
  std::string name;                     // mangled
  bool is_entry = false;                // a kernel
  std::uint32_t registers = 0;          // per thread; known for kernels only
  std::uint32_t barriers = 0;           // known for kernels only
  std::uint64_t stack_bytes = 0;        // frame of its own body, per thread
  std::uint64_t spill_store_bytes = 0;  // written to local memory for want of registers
  std::uint64_t spill_load_bytes = 0;   // read back from it
  std::uint64_t shared_bytes = 0;       // known for kernels only

  friend bool operator==(const PtxFunctionUsage&, const PtxFunctionUsage&) = default;
};

// What came of one job. A plain value, owned by the caller.
struct PtxResult {
  // InvalidArgument where the text or the arguments are wrong (`diagnostics` says why),
  // DeadlineExceeded where the tool took too long, Cancelled where the caller stopped it,
  // ResourceExhausted where the environment grants no memory, Unimplemented for arguments that the
  // assembler cannot honour, Unavailable where a process or its files found no room, Internal where
  // the tool itself failed.
  absl::Status status;
  std::vector<std::uint8_t> cubin;  // empty unless `status` is ok
  // Made by a tool in place of one that could not be used; no cache keeps it.
  bool is_stand_in = false;
  // The assembler's lines in its order, word for word as nvlink prints them. The name of the input
  // and, where the line has one, the number of the line in the text are fields of their own.
  std::vector<Diagnostic> diagnostics;
  std::vector<PtxFunctionUsage> functions;  // in the assembler's order; only on request
  std::chrono::nanoseconds time{0};         // that it took within a link
};

// An assembler. Thread-safe: Assemble may run on several threads at once.
class PtxAssembler {
 public:
  virtual ~PtxAssembler() = default;
  // "nvPTXCompiler", "ptxas" or "nvJitLink".
  [[nodiscard]] virtual std::string_view name() const = 0;
  // As precise as the tool tells: "13.0" or "13.0.88".
  [[nodiscard]] virtual std::string_view version() const = 0;
  // True where the cubins are those that nvlink's own assembler makes, byte for byte. False where
  // only the code is the same, and texts whose code would differ are refused.
  [[nodiscard]] virtual bool matches_nvlink() const = 0;
  // How many jobs it does at a time on other machines; 0: they take threads and memory of this one.
  [[nodiscard]] virtual unsigned jobs_elsewhere() const;
  // The result of a job for which nothing has to be done, such as one that a cache keeps.
  [[nodiscard]] virtual std::optional<PtxResult> Find(const PtxJob& job) const;
  // Assembles the text of the job. Blocks until that is done; a failure is a status in the result.
  virtual PtxResult Assemble(const PtxJob& job) const = 0;
};

// What assembles.
enum class PtxBackend {
  kAutomatic,      // the first of the following that is there
  kNvPtxCompiler,  // libdevlink_ptxcompiler.so
  kPtxas,          // the program, a process for each text
  kNvJitLink,      // libnvJitLink.so.13, in this process
};

// Empty paths mean that there is no such tool. Nothing is searched for.
struct PtxBackendOptions {
  PtxBackend backend = PtxBackend::kAutomatic;  // what is to be used
  std::string nvptxcompiler_path;               // of libdevlink_ptxcompiler.so
  std::string ptxas_path;                       // of the program
  std::string nvjitlink_path;                   // of libnvJitLink.so.13

  // For ptxas: where its files go while it runs, each call in a directory of its own; and how long
  // it may run, zero for as long as it takes. Its environment is empty but for these `NAME=value`.
  std::string temporary_directory;
  std::chrono::milliseconds timeout{0};
  std::vector<std::string> environment;
  // `NAME=value` of those variables of this process that tools within it look at. Nothing sets them
  // here; a cache tells by them that a tool would make something else.
  std::vector<std::string> host_environment;

  // With kAutomatic, texts of so many bytes and more go to ptxas where nvPTXCompiler is chosen and
  // the program is of `profile`'s release, too: it makes the same cubin in less time, for a process
  // and files in `temporary_directory`. So do texts with `-g`, of which the program alone makes
  // nvlink's code always. None: all are assembled in this process.
  std::optional<std::uint64_t> ptxas_from_bytes;

  // What a message says where no tool is there, such as how a caller's users name one.
  std::string advice;

  // Where texts are assembled (devlink/experimental/compile_executor.h); null: on the thread that
  // asks. The tool must be there all the same: it decides what an executor's tool has to be, and
  // does what the executor cannot. What tells of files by their paths is assembled here.
  std::shared_ptr<const CompileExecutor> executor = nullptr;

  // Of nvlink, whose build text takes the place of the libraries' in the cubin's tool record.
  ToolkitProfile profile;

  // Bound on the size of one cubin.
  std::uint64_t max_output_bytes = std::uint64_t{4} << 30;
};

// Loads the library or asks the program for its version. NotFound where what is asked for is not
// there, FailedPrecondition where it cannot be used; the message says what was tried and what to
// do.
absl::StatusOr<std::unique_ptr<PtxAssembler>> CreatePtxAssembler(const PtxBackendOptions& options);

// All jobs up to the first that fails, in the order of the jobs; a failed one is the last. That is
// what assembling them one after the other gives, whatever the number of threads. The caller's
// thread works too, and `sink` is told from it alone, with the name of the next job. Other threads
// are used only where more than one job is left that PtxAssembler::Find does not know, as many as
// PtxAssembler::jobs_elsewhere says where that is not 0. When the
// environment's token asks to stop, no further job begins, and those that run are told; the last
// result is then Cancelled. Memory is reserved by estimate.
std::vector<PtxResult> AssembleAll(const PtxAssembler& assembler, std::span<const PtxJob> jobs,
                                   const ParallelOptions& options = {},
                                   ProgressSink* sink = nullptr,
                                   const Environment& environment = Environment::Default());

}  // namespace devlink
