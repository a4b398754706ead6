// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/compile_executor.h
//
// Where compilations are done: PTX to a cubin, LTO IR to PTX. Without an executor each runs on the
// thread of the link that needs it. With one, a program decides: on the threads that several links
// share, or on other machines, since an action is all that a compilation depends on.
// docs/remote-compilation.md describes how to run them on a farm, and
// devlink/experimental/compile_worker.h is what the other machines need.
//
//   struct Farm : devlink::CompileExecutor {
//     absl::StatusOr<std::vector<std::uint8_t>> Execute(
//         const devlink::CompileAction& action, const devlink::CompileHere& here) const override {
//       return farm.Run({worker, action.tool_path}, action.request);
//     }
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"

namespace devlink {

// What an action compiles.
enum class CompileKind : std::uint8_t {
  kPtx,  // one PTX text to a cubin
  kLto,  // all LTO IR of a link to PTX
};

// One compilation that any machine can do that has the tool. Borrowed until Execute has returned.
struct CompileAction {
  CompileKind kind = CompileKind::kPtx;  // of the tool and the result
  // Stands for all that the result depends on: the request, and with it the contents of the tool
  // and this version of devlink. Equal keys mean equal results.
  CacheKey key;
  // What RunCompileAction takes. It holds no path, no name of an input file of a PTX text, and
  // nothing of this machine.
  std::span<const std::uint8_t> request;
  // PtxAssembler::name or LtoCompiler::name of the tool, and the file that it was loaded from: a
  // worker needs one with the same bytes.
  std::string_view tool_name;
  std::string_view tool_path;
  // `NAME=value` that the tool sees here: of its own process (PtxBackendOptions::environment) and
  // of a process that loads it (`host_environment`). A worker needs the same.
  std::span<const std::string> environment;
  std::span<const std::string> host_environment;
  // Asks to give up: nobody wants the result any more.
  std::stop_token stop;
};

// Does the action here, on the thread that calls, as RunCompileAction: once, and while Execute runs
// (a call under way then is waited for). A second call or a later one gets FailedPrecondition.
using CompileHere = std::function<absl::StatusOr<std::vector<std::uint8_t>>()>;

// Does actions. Thread-safe: Execute may run on many threads at once. One executor may serve any
// number of toolchains. Nothing that it does changes an output: results carry the hash of what was
// asked for, and a compilation that it has no good result for is done by the link itself.
class CompileExecutor {
 public:
  virtual ~CompileExecutor() = default;
  // How many actions it does at a time; 0: as many as a link has threads and memory for, because it
  // does them in this process. Where it is more than 0, a link calls Execute from that many
  // threads, and keeps no account of memory for them.
  [[nodiscard]] virtual unsigned Parallelism() const = 0;
  // What RunCompileAction makes of the request, somewhere. Blocks until that is done. After any
  // error the link does the action itself, unless `here` was called and failed; Cancelled where
  // `stop` was asked to.
  [[nodiscard]] virtual absl::StatusOr<std::vector<std::uint8_t>> Execute(
      const CompileAction& action, const CompileHere& here) const = 0;
  // The link did the action itself, for this reason: Execute failed, or its result was damaged or
  // that of another action. For logs and counts.
  virtual void DoneByLink(const CompileAction& action, const absl::Status& reason) const;
};

// Does actions in this process, on the threads that ask for them, and not more than `jobs` at a
// time, whichever sessions they are of: for programs that run many links at once, each with threads
// of its own. 0 counts as 1.
std::shared_ptr<const CompileExecutor> CreateLocalExecutor(unsigned jobs);

}  // namespace devlink
