// SPDX-License-Identifier: Apache-2.0
//
// What a session holds. link_session.cc links it, take_inputs.cc fills it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file.h"
#include "devlink/link_session.h"
#include "devlink/ptx_assembler.h"
#include "input/expand.h"
#include "model/program.h"
#include "session/code_finder.h"
#include "write/emit.h"

namespace devlink {

struct LinkSession::State {
  // PTX that was added and not assembled yet; its place among the inputs is taken.
  struct PendingPtx {
    std::size_t input = 0;
    std::string text;
    std::optional<std::string> member_options;
  };
  // For the register file: the ids of an input, none where it has none.
  struct Registered {
    std::string name;
    std::vector<std::string> ids;
  };

  LinkOptions options;
  std::shared_ptr<ModulePool> pool;
  LogSink* log = nullptr;
  std::vector<internal::LinkInput> inputs;      // those of pending PTX have no module yet
  std::vector<HostReferences> host_references;  // of the inputs and of what else was met
  std::vector<Diagnostic> diagnostics;
  std::vector<PendingPtx> pending;
  std::unique_ptr<PtxAssembler> assembler;  // made when the first PTX is assembled
  std::vector<Registered> registered;
  bool dropped_cudadevrt = false;
  std::set<base::FileIdentity> archives;  // those that were added from files

  void Log(std::string_view line) const;
  void Say(Diagnostic diagnostic);
  absl::Status Refuse(Diagnostic diagnostic, absl::StatusCode code);
  absl::Status Add(std::string name, ModuleRef module, HostReferences references);

  // take_inputs.cc
  absl::Status TakeFile(std::string_view name, std::vector<std::uint8_t>&& bytes);
  absl::Status TakeExpansion(const internal::Expansion& expansion);
  absl::Status TakeBlob(const internal::DeviceBlob& blob);
  absl::Status TakeCode(const internal::DeviceBlob& blob, internal::FoundCode&& code,
                        HostReferences references);
  absl::Status TakeCubin(std::string name, std::vector<std::uint8_t>&& bytes,
                         HostReferences references);
  bool SayOfSearch(FoundLibrary& library);
  void Register(const internal::DeviceBlob& blob);
  absl::Status AssemblePending();
  absl::Status TakeAssembled(const PendingPtx& ptx, PtxResult& result);
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> AssemblerArguments(const PendingPtx& ptx);
  [[nodiscard]] bool AnythingUndefined() const;

  absl::StatusOr<LinkResult> Run(std::vector<Diagnostic>& found) const;
  absl::StatusOr<internal::Image> RunPasses(std::vector<Diagnostic>& found,
                                            LinkReport& report) const;
  absl::StatusOr<internal::Image> RunRelocatablePasses(internal::Program& program,
                                                       LinkReport& report) const;
};

}  // namespace devlink
