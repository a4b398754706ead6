// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/mercury_finalizer.h
//
// What nvlink runs behind a link for sm_100 and later: NVIDIA's finalizer, which takes waits and
// fillers out of machine code that a complete program does not need, and makes code for a related
// device. It is part of nvlink itself and of libnvJitLink, which links cubins to the file that
// nvlink of its release writes, but for the record of the tool. Which of them there is depends on
// the machine, so nothing of it is linked in: paths decide. docs/mercury.md tells what the
// finalizer changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/toolkit_profile.h"

namespace devlink {

// One cubin with both views.
struct FinalizeInput {
  std::string_view name;                // what messages call it
  std::span<const std::uint8_t> bytes;  // of a file that Module::Load has accepted
};

// One link. Borrows the inputs until it is done.
struct FinalizeJob {
  Arch target;                                       // sm_100 or later
  std::uint16_t release = ToolkitProfile().release;  // whose nvlink is followed
  bool debug = false;                                // nvlink -g
  bool relocatable = false;                          // nvlink -r
  // nvlink -kernels-used and -variables-used, one item for each text. The kernels that stay have
  // one of these texts in their names.
  std::vector<std::string> kernels_used;
  std::vector<std::string> variables_used;
  // Further options of nvlink, such as `-reserve-null-pointer`, which libnvJitLink does not know.
  std::vector<std::string> nvlink_options;
  std::vector<FinalizeInput> inputs;  // in link order
  // Ends a process that is at work; what works in this process cannot be stopped.
  std::stop_token stop = {};
};

// What came of one job. A plain value, owned by the caller.
struct Finalized {
  // The linked cubin with the record of the tool that made it.
  std::vector<std::uint8_t> cubin;
  // Lines that the tool had to say, without a tool's name, such as `warning : Stack size ...`.
  std::vector<std::string> messages;
  std::string tool;  // which it was: "nvlink" or "nvJitLink"
};

// A finalizer. Thread-safe: Finalize may run on several threads at once, but in one process
// libnvJitLink does one thing at a time.
class MercuryFinalizer {
 public:
  virtual ~MercuryFinalizer() = default;
  // "nvJitLink", or "nvlink" where that is tried first.
  [[nodiscard]] virtual std::string_view name() const = 0;
  // The release whose nvlink writes such files, "13.0"; empty where it is not known yet.
  [[nodiscard]] virtual std::string_view version() const = 0;
  // Whether several jobs take less time than one after the other.
  [[nodiscard]] virtual bool works_at_once() const { return false; }
  // Links the inputs. Unavailable where the process could not be started or crashed,
  // DeadlineExceeded where it took too long; FailedPrecondition where the tool is of another
  // release; InvalidArgument where it refuses an input or the program, with what it says;
  // Unimplemented for options that it does not know; ResourceExhausted where the cubin is too
  // large; Cancelled where the caller stopped it; Internal where it hands none out.
  [[nodiscard]] virtual absl::StatusOr<Finalized> Finalize(const FinalizeJob& job) const = 0;
  // What `make` returns, or what it did return for the same job and the same bytes: a result of
  // this finalizer put together with `own`. Nothing but these may decide what it is. Here it is
  // made each time.
  [[nodiscard]] virtual absl::StatusOr<Finalized> Remembered(
      const FinalizeJob& job, std::span<const std::uint8_t> own,
      const std::function<absl::StatusOr<Finalized>()>& make) const {
    (void)job;
    (void)own;
    return make();
  }
};

// What finalizes.
enum class FinalizerBackend {
  kAutomatic,  // nvlink where it is there; what it cannot do, and all else, libnvJitLink
  kNvlink,     // the program, a process for each job
  kNvJitLink,  // libnvJitLink.so.13
};

// An empty path means that there is no such tool. Nothing is searched for.
struct FinalizerOptions {
  FinalizerBackend backend = FinalizerBackend::kAutomatic;  // what is to be used
  std::string nvjitlink_path;                               // of libnvJitLink.so.13
  std::string advice;                                       // as in PtxBackendOptions
  // The program devlink-finalizer. The library crashes where nvlink ends with an internal error of
  // its own; with this program it does so in another process, one for each job. Empty: in this one.
  std::string worker_path;
  // The program nvlink of the same release, which has the same finalizer, starts in less time and
  // takes two thirds. It is given what the library would be given. Texts of a job that have commas
  // or quotes it cannot be told.
  std::string nvlink_path;
  // For the programs: where their files go while they run, each call in a directory of its own; and
  // how long they may run, zero for 10 seconds and 20 more for each MiB of their inputs, which is
  // forty times what they take.
  std::string temporary_directory;
  std::chrono::milliseconds timeout{0};
  // `NAME=value` of those variables of this process that the library looks at. Nothing sets them
  // here; a cache tells by them that it would make something else.
  std::vector<std::string> host_environment;
  // Bound on the size of the cubin.
  std::uint64_t max_output_bytes = std::uint64_t{4} << 30;
};

// Loads the library, if it is to work in this process. NotFound where there is no tool at the path,
// FailedPrecondition where it cannot be used; the message says what to do.
absl::StatusOr<std::unique_ptr<MercuryFinalizer>> CreateMercuryFinalizer(
    const FinalizerOptions& options);

// What devlink-finalizer does: reads a job from one file and writes what came of it to another.
// Returns the status that the process ends with, 0 wherever there is a result.
int ServeFinalizerJob(const std::string& nvjitlink_path, const std::string& job_path,
                      const std::string& result_path);

}  // namespace devlink
