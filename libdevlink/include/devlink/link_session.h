// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/link_session.h
//
// One link: create it from options, add inputs in link order, link, take the bytes.
//
//   auto session = devlink::LinkSession::Create({.target = *devlink::Arch::Parse("sm_90")});
//   if (auto s = session->AddFile("a.cubin"); !s.ok()) return s;
//   if (auto s = session->AddFile("b.cubin"); !s.ok()) return s;
//   absl::StatusOr<devlink::LinkResult> result = session->Link();
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/library_search.h"
#include "devlink/host_references.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "devlink/log.h"
#include "devlink/module_pool.h"
#include "devlink/output_sink.h"
#include "devlink/progress.h"

namespace devlink {

struct LinkResult {
  std::vector<std::uint8_t> cubin;  // the executable cubin; empty where a sink has it
  std::string ptx;                  // with LtoOptions::emit_ptx this, and no cubin
  LinkReport report;
};

// Used by one thread at a time; any number of sessions may run side by side. Move-only.
class LinkSession {
 public:
  // InvalidArgument where the options contradict each other, Unimplemented for a target that this
  // release does not link. `pool` may be shared with other sessions; without one the session has
  // its own. `log` and `progress` are borrowed and must outlive the session.
  static absl::StatusOr<LinkSession> Create(LinkOptions options,
                                            std::shared_ptr<ModulePool> pool = nullptr,
                                            LogSink* log = nullptr,
                                            ProgressSink* progress = nullptr);

  LinkSession(LinkSession&&) noexcept;
  LinkSession& operator=(LinkSession&&) noexcept;
  ~LinkSession();

  // The paths of the archives that -l means, for AddFile: nvlink looks for all of them before it
  // reads any input, and links them behind all files. A library that is not there is no error.
  // What there is to say becomes diagnostics. InvalidArgument where nvlink would end the link.
  absl::StatusOr<std::vector<std::string>> FindLibraries(const LibraryQuery& query);

  // Adds one input of any kind, behind those added before. A failure is a status and a diagnostic;
  // the session can go on without the input. NotFound for a file that cannot be read,
  // InvalidArgument for one that is damaged, FailedPrecondition for one that is not for this
  // target. An archive that was added before, by whatever path, is not added again: that is what
  // nvlink does, and of archives alone.
  absl::Status AddFile(const std::string& path);

  // The same from memory. `name` is how diagnostics call it. The bytes are not needed afterwards.
  // `references` is what the host code that the input belongs to refers to; with the default, an
  // input that does not say, no kernel of the link is left out.
  absl::Status AddCubin(std::string_view name, std::span<const std::uint8_t> bytes,
                        HostReferences references = {});
  // The same, taking the bytes over: nothing is copied.
  absl::Status AddCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                        HostReferences references = {});

  // A module that a pool holds already.
  absl::Status AddModule(std::string_view name, ModuleRef module, HostReferences references = {});

  // Adds an input of any kind from memory: a cubin, PTX, a fat binary, a host object with device
  // code, or an archive of them. `name` stands for its path: messages and, for thin archives, the
  // place of the members follow it. PTX is assembled later, all of it in parallel; where it cannot
  // be, the call that assembles it fails, Link at the latest, and the session goes on without it.
  absl::Status AddInput(std::string_view name, std::vector<std::uint8_t>&& bytes);

  // Whether PTX was added that is not assembled yet. Link assembles it.
  [[nodiscard]] bool HasPtx() const;

  // The inputs that were linked and the ids of the modules in them, in link order, for nvlink's
  // --register-link-binaries. An input without ids gets one of its name and `working_directory`.
  [[nodiscard]] std::string RegisterFileText(std::string_view working_directory) const;
  // Whether an existing register file stays as it is: nvcc runs the linker once per architecture.
  [[nodiscard]] bool KeepsRegisterFile(const std::string& existing) const;

  // What the host code of an input refers to that brings no device code into this link: an object
  // without code for the target, or one of host code alone.
  void AddHostReferences(HostReferences references);

  // Links what was added. May be called again after more inputs were added; each call is a link of
  // its own. NotFound for undefined references, AlreadyExists for multiple definitions,
  // FailedPrecondition for other contradictions between inputs, ResourceExhausted where a limit of
  // the target is exceeded; `diagnostics` has the details.
  absl::StatusOr<LinkResult> Link();
  // The same, but the cubin goes to `output` in pieces, not into the result: it is never whole in
  // memory. Nothing reaches the sink before the link is known to succeed; after that, only errors
  // of the sink itself are left. With LtoOptions::emit_ptx nothing reaches it at all.
  absl::StatusOr<LinkResult> LinkTo(OutputSink& output);

  // Everything that was found so far, in the order in which nvlink reports it.
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const;

 private:
  struct State;
  explicit LinkSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace devlink
