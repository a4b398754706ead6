// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/toolchain.h
//
// The tools that a link may need beside the linker: what assembles PTX, what compiles LTO IR, what
// finalizes code for sm_100 and later, and the cache of what they made. One toolchain serves any
// number of sessions and threads.
//
//   auto tools = std::make_shared<devlink::Toolchain>(
//       devlink::ToolchainOptions{.ptx = {.nvptxcompiler_path = path}});
//   auto session = devlink::LinkSession::Create(options, {.toolchain = tools});
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/lto_compiler.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "devlink/experimental/ptx_assembler.h"
#include "devlink/toolkit_profile.h"

namespace devlink {

// Where the tools lie. A plain value; nothing is searched for.
struct ToolchainOptions {
  PtxBackendOptions ptx;       // its `profile` is that of each link
  LtoBackendOptions lto;       // its `needs_protected` is decided by each link
  FinalizerOptions finalizer;  // for sm_100 and later
  // Keeps what the tools made, and is asked first; none: everything is made anew. The output is the
  // same either way.
  std::shared_ptr<CacheStore> cache;
};

// Thread-safe. A tool is opened when a link first needs it, once, and stays open as long as the
// toolchain lives; what failed to open is tried again by the next link that needs it.
class Toolchain {
 public:
  explicit Toolchain(ToolchainOptions options = {});
  ~Toolchain();
  Toolchain(const Toolchain&) = delete;
  Toolchain& operator=(const Toolchain&) = delete;

  // The assembler whose cubins say that the tools of `profile` made them. Borrowed from the
  // toolchain. The errors are those of CreatePtxAssembler.
  absl::StatusOr<const PtxAssembler*> Assembler(const ToolkitProfile& profile);

  // What compiles LTO IR. `needs_protected`: some of it is in the form that only libnvJitLink
  // reads. `as_nvlink`: libNVVM alone, where the options leave the choice and it can do the work.
  // Borrowed from the toolchain. The errors are those of CreateLtoCompiler.
  absl::StatusOr<const LtoCompiler*> CompilerOfLtoIr(bool needs_protected, bool as_nvlink);

  // What finalizes code for sm_100 and later. Borrowed from the toolchain. The errors are those of
  // CreateMercuryFinalizer.
  absl::StatusOr<const MercuryFinalizer*> Finalizer();
  // Whether the options name one, or say which it is to be.
  [[nodiscard]] bool names_finalizer() const;

  // How many tools were opened so far.
  [[nodiscard]] std::uint32_t tools_opened() const;

  // How the cache was used so far; nothing where there is none.
  [[nodiscard]] CacheUse cache_use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace devlink
