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
#include "devlink/experimental/cicc_option_builder.h"
#include "devlink/experimental/lto_compiler.h"
#include "devlink/experimental/ptx_assembler.h"
#include "devlink/link_session.h"
#include "image/emit.h"
#include "input/choose_code.h"
#include "input/expand.h"
#include "model/program.h"
#include "session/lto_link.h"

namespace devlink {

struct LinkSession::State {
  // PTX that was added and not assembled yet; its place among the inputs is taken.
  struct PendingPtx {
    std::size_t input = 0;
    std::string text;
    std::optional<std::string> member_options;
  };
  // One input with device code: its ids, for the register file, and what it brought.
  struct Registered {
    std::string name;
    std::vector<std::string> ids;        // none where it has none
    std::vector<std::string> prelinked;  // instead: an object with the result of an earlier link
    bool is_held_runtime = false;        // counts only where the device runtime is linked
    bool is_runtime = false;             // taken because something was undefined
    bool is_ir = false;                  // LTO IR that is in no host object: not listed
    std::size_t inputs_begin = 0;        // the inputs of `set` that are its code
    std::size_t inputs_end = 0;
    std::size_t references_begin = 0;
    std::size_t references_end = 0;

    [[nodiscard]] bool HasInputs() const { return inputs_begin != inputs_end; }
  };

  // What a link consists of when nothing is left to be compiled.
  struct LinkSet {
    std::vector<internal::LinkInput> inputs;
    std::vector<HostReferences> references;  // of the inputs and of what else was met
    bool references_known_before = false;    // see KernelSelection::ReferredTo
  };

  LinkOptions options;
  std::shared_ptr<ModulePool> pool;
  LogSink* log = nullptr;
  ProgressSink* progress = nullptr;
  LinkSet set;  // inputs of pending PTX have no module yet
  std::vector<std::size_t>
      places;  // of its inputs: numbers that grow with everything that is added
  std::size_t next_place = 1;
  std::vector<Diagnostic> diagnostics;
  std::vector<PendingPtx> pending;
  std::uint32_t files_read = 0;
  std::unique_ptr<PtxAssembler> assembler;  // made when the first PTX is assembled
  std::vector<Registered> registered;
  std::vector<std::string> prelinked;  // ids that earlier links linked, from all inputs
  bool dropped_cudadevrt = false;
  bool left_out_object = false;  // the last object that was met was a device runtime not needed
  internal::LtoState lto;
  std::unique_ptr<LtoCompiler> lto_compiler;  // made when the first LTO IR is compiled
  std::set<FileIdentity> archives;            // those that were added from files

  void Log(std::string_view line) const;
  void Report(LinkPhase phase, std::uint32_t done = 0, std::uint32_t total = 0,
              std::string_view subject = {}) const;
  void Say(Diagnostic diagnostic);
  absl::Status Refuse(Diagnostic diagnostic, absl::StatusCode code);
  void Append(std::string name, ModuleRef module, HostReferences references);
  absl::Status Add(std::string name, ModuleRef module, HostReferences references);

  // take_inputs.cc
  absl::Status TakeFile(std::string_view name, std::vector<std::uint8_t>&& bytes);
  absl::Status TakeExpansion(std::string_view name, const internal::Expansion& expansion);
  absl::Status TakeBlob(const internal::DeviceBlob& blob);
  absl::StatusOr<bool> LeavesOutRuntime();
  absl::Status TakeCodeOf(const internal::DeviceBlob& blob);
  absl::Status TakeCode(const internal::DeviceBlob& blob, internal::FoundCode&& code,
                        HostReferences references);
  absl::Status TakeCubin(std::string name, std::vector<std::uint8_t>&& bytes,
                         HostReferences references);
  bool SayOfSearch(FoundLibrary& library);
  absl::Status AssemblePending();
  absl::Status AssembleAndTake(const std::vector<PendingPtx>& work);
  absl::Status TakeAssembled(const PendingPtx& ptx, PtxResult& result);
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> AssemblerArguments(const PendingPtx& ptx);
  absl::Status OpenAssembler(const std::string& name);
  static bool AnythingUndefined(const std::vector<internal::LinkInput>& all);

  // registered.cc
  void Register(const internal::DeviceBlob& blob);
  absl::Status EndRegistered(absl::Status status, bool is_new = true);
  void ForgetUnassembled();
  void NotePrelinked(const std::vector<std::string_view>& ids);
  absl::Status RefuseMixedIds(const std::string& name);
  [[nodiscard]] bool LeavesOutPrelinked() const;
  [[nodiscard]] std::vector<bool> FindLeftOut() const;
  [[nodiscard]] LinkSet Remaining(const std::vector<bool>& left_out, std::size_t entries) const;
  LinkSet LeaveOutPrelinked();

  // lto_link.cc
  void MeetHostObject(const internal::DeviceBlob& blob);
  [[nodiscard]] bool SeesRuntime(const internal::DeviceBlob& blob) const;
  absl::Status TakeLtoIr(const internal::DeviceBlob& blob, internal::FoundCode&& code);
  absl::Status HoldRuntime(const internal::DeviceBlob& blob, internal::FoundCode&& code);
  absl::Status SayWithoutLto(const std::string& name);
  absl::StatusOr<LinkResult> LinkWithLto(OutputSink* output);
  absl::Status WarnOfNoLto();
  absl::Status OpenLtoCompiler();
  absl::Status PrepareLto(const internal::LtoChoices& choices, CiccOptionBuilder& builder,
                          LtoJob& job, std::vector<Diagnostic>& found) const;
  absl::Status AssembleLto(const CiccOptionBuilder& how, internal::LtoAttempt& out);
  internal::LtoAttempt TryLto(const internal::LtoChoices& choices);
  absl::StatusOr<internal::LtoAttempt> CompileLto();
  absl::StatusOr<ModuleRef> LoadRuntime(const internal::HeldRuntime& held);
  void SayRuntimeExpected();
  absl::Status CheckRuntimeIsLast();
  absl::StatusOr<LinkSet> PlaceLto(std::vector<std::vector<std::uint8_t>> cubins);

  // Where `output` is null, the cubin is in the result.
  absl::StatusOr<LinkResult> Link(OutputSink* output);
  absl::StatusOr<LinkResult> LinkAll(const LinkSet& all, OutputSink* output);
  absl::StatusOr<LinkResult> Run(const LinkSet& all, OutputSink* output,
                                 std::vector<Diagnostic>& found) const;
  absl::StatusOr<internal::Image> RunPasses(const LinkSet& all, std::vector<Diagnostic>& found,
                                            LinkReport& report) const;
  absl::StatusOr<internal::Image> RunRelocatablePasses(const LinkSet& all,
                                                       internal::Program&& program,
                                                       std::vector<Diagnostic>& found,
                                                       LinkReport& report) const;
};

}  // namespace devlink
