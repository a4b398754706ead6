// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/link_session.h
//
// One link: create it from options, add inputs in link order, link, take the bytes.
//
//   auto session = devlink::LinkSession::Create({.target = *devlink::Arch::Parse("sm_90")});
//   if (auto s = session->AddFile("a.cubin"); !s.ok()) return s;
//   if (auto s = session->AddFile("b.cubin"); !s.ok()) return s;
//   devlink::LinkOutcome outcome = session->Link();
//   if (!outcome.ok()) return outcome.status;
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/environment.h"
#include "devlink/experimental/host_references.h"
#include "devlink/experimental/library_search.h"
#include "devlink/experimental/link_intermediates.h"
#include "devlink/experimental/link_passes.h"
#include "devlink/experimental/time_trace.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "devlink/module.h"
#include "devlink/sinks.h"
#include "devlink/toolchain.h"

namespace devlink {

// One input of a link as nvlink's --register-link-binaries lists it.
struct RegisteredInput {
  std::string name;              // as it was added
  std::vector<std::string> ids;  // of the modules in it; none: an id is made of its name
  bool left_out = false;         // an earlier link has linked it already
};

// What one input says of its host code.
struct InputReferences {
  std::string input;  // as diagnostics call it, of an archive a member; empty where it is none
  HostReferences references;  // its lists
};

// An input from memory that stays the caller's.
struct InputView {
  std::string_view name;  // how diagnostics call it
  // Of any kind; copied once they are known to be within bounds.
  std::span<const std::uint8_t> bytes;
};

// What came of one link. A plain value.
struct LinkOutcome {
  // NotFound for undefined references, AlreadyExists for multiple definitions, FailedPrecondition
  // for other contradictions between inputs, ResourceExhausted where a limit of the target is
  // exceeded; `diagnostics` has the details. Cancelled where the environment asked to stop. With
  // LinkOptions::end_at_rejected_input also what the Add of that input returned.
  absl::Status status;
  std::vector<std::uint8_t> cubin;  // executable, or relocatable; empty where a sink has it
  std::string ptx;                  // with LtoOptions::emit_ptx this, and no cubin
  LinkReport report;                // of a failed link too, as far as it came
  // All that there is to say, in nvlink's order: what the inputs' own Adds found stands among it.
  std::vector<Diagnostic> diagnostics;

  // For --register-link-binaries, in link order, once all inputs were accepted without an error.
  bool inputs_accepted = false;
  std::vector<RegisteredInput> registered;
  bool is_whole_program = false;        // the output is what LTO made, and was not linked
  bool dropped_device_runtime = false;  // libcudadevrt was given, and nothing needs it

  // With LinkOptions::dot_call_graph: who calls whom, also of a link that ends with errors, once
  // the inputs are one program.
  std::optional<std::string> call_graph_dot;
  // The runs of compilers that ended well, in the order of their inputs.
  std::vector<CompilerRun> compiler_runs;

  // Whether the link succeeded, and so its output is there.
  [[nodiscard]] bool ok() const { return status.ok(); }
};

// The text of the register file. Inputs without ids get one of their name and `working_directory`.
std::string RegisterFileText(const LinkOutcome& outcome, std::string_view working_directory);

// Whether an existing register file stays as it is: nvcc runs the linker once per architecture.
bool KeepsRegisterFile(const LinkOutcome& outcome, const std::string& existing);

// What a session works with, beside options and inputs. Nothing of it shows in the output. What is
// null is the session's own; what is a plain pointer is borrowed and must outlive the session.
struct SessionContext {
  const Environment* environment = nullptr;  // files and threads; none: those of the machine
  std::shared_ptr<ModulePool> pool;          // modules, shared with other sessions; none: no two
                                             // inputs of the same bytes share a module
  std::shared_ptr<Toolchain> toolchain;  // tools, shared with other sessions; none: there are none
  // Asked for what no input defines, whether or not that is used in the end. Not with
  // LinkOptions::relocatable, check_only or lto.enabled: what is undefined is for the next link to
  // know, for nobody, or for the compilers.
  DefinitionProvider* definitions = nullptr;
  LogSink* log = nullptr;
  ProgressSink* progress = nullptr;
  PassObserver* passes = nullptr;             // told what each pass of a link found
  TimeTrace* time_trace = nullptr;            // where the time of inputs and steps is recorded
  IntermediateSink* intermediates = nullptr;  // told what a link has on its way to the output
};

// A list of inputs and the options to link them with. Each Add reads one input and makes a record
// of it, which never changes; Link is a function of the records. Used by one thread at a time; any
// number of sessions may run side by side. A copy shares the records so far and goes its own way;
// one that was moved from can only be destroyed or assigned to.
class LinkSession {
 public:
  // InvalidArgument where the options contradict each other, Unimplemented for a target that this
  // release does not link.
  static absl::StatusOr<LinkSession> Create(LinkOptions options, SessionContext context = {});
  LinkSession(const LinkSession&);
  LinkSession& operator=(const LinkSession&);
  LinkSession(LinkSession&&) noexcept;
  LinkSession& operator=(LinkSession&&) noexcept;
  ~LinkSession();

  // The paths of the archives that -l means, for AddFile: nvlink looks for all of them before it
  // reads any input, and links them behind all files. A library that is not there is not an error.
  // What there is to report becomes diagnostics. InvalidArgument where nvlink would end the link; a
  // warning that LinkOptions::warnings_are_errors makes an error lets Link fail instead.
  absl::StatusOr<std::vector<std::string>> FindLibraries(const LibraryQuery& query);

  // Adds one input of any kind, behind those added before. A failure is a status and a diagnostic;
  // the link can go on without the input (LinkOptions::end_at_rejected_input). NotFound for a file
  // that cannot be read, InvalidArgument for one that is damaged, FailedPrecondition for one that
  // is not for this target. An archive that was added before, by whatever path, is not linked
  // again: that is what nvlink does, and of archives alone. Where memory runs out while any of
  // these adds an input, ResourceExhausted: every link of the session fails then, and copies that
  // were made before go on.
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
  // place of the members follow it. The members of a thin archive are files, which are opened only
  // with LinkOptions::read_thin_members; InvalidArgument otherwise. PTX is assembled by Link, all
  // of it in parallel, and fails the link where it cannot be.
  absl::Status AddInput(std::string_view name, std::vector<std::uint8_t>&& bytes);

  // The same, but the bytes are the caller's, and are copied where there is leave for them.
  absl::Status AddView(std::string_view name, std::span<const std::uint8_t> bytes);

  // Many inputs at once, in this order: what AddFile, AddInput or AddView make of each, but several
  // are read at a time, as many as LinkOptions::parallel and the environment allow. Where memory
  // does not suffice, AddFiles and AddViews read one by one; of AddInputs it may then depend on
  // threads which compressed input is refused. All of them are added, with
  // LinkOptions::end_at_rejected_input none behind the first which failed; the status is that
  // one's. Cancelled where the environment asked to stop: then none is added.
  absl::Status AddFiles(std::span<const std::string> paths);
  absl::Status AddInputs(std::vector<MemoryInput>&& inputs);
  absl::Status AddViews(std::span<const InputView> inputs);

  // What the host code of an input refers to that brings no device code into this link: an object
  // without code for the target, or one of host code alone.
  void AddHostReferences(HostReferences references);

  // Links what was added. Changes nothing: every call is a link of its own, and more inputs may be
  // added between two of them.
  [[nodiscard]] LinkOutcome Link() const;

  // The same, but the cubin goes to `output` in pieces, not into the outcome: it is never whole in
  // memory. Nothing reaches the sink before the link is known to succeed; after that, only errors
  // of the sink itself are left. With LtoOptions::emit_ptx nothing reaches it at all.
  [[nodiscard]] LinkOutcome LinkTo(OutputSink& output) const;

  // What the options and the inputs so far gave rise to, each input taken by itself. The outcome of
  // a link has these too, in their places. Without what the `first` entries have to say.
  [[nodiscard]] std::vector<Diagnostic> diagnostics(std::size_t first = 0) const;

  // How many entries there are: one for each input, be it taken or refused, and some for what
  // options and searches gave rise to. With diagnostics() it tells what one call had to say.
  [[nodiscard]] std::size_t entries() const;

  // What the inputs so far say of their host code, in their order, whoever gave the lists: an entry
  // for each object with device code, and for each without that counts (docs/host-references.md).
  [[nodiscard]] std::vector<InputReferences> host_references() const;

 private:
  struct State;
  explicit LinkSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace devlink
