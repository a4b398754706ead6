// SPDX-License-Identifier: Apache-2.0
#include "c_api/session.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "c_api/option_texts.h"
#include "devlink/arch.h"

namespace c_api = devlink::c_api;

namespace {

using devlink::Diagnostic;
using devlink::internal::OptionChecks;

std::uint64_t MaxInputBytes(const dl_session_options& given) {
  return given.max_input_bytes != 0 ? given.max_input_bytes
                                    : devlink::LinkOptions().max_input_bytes;
}

void TakeLimits(const dl_session_options& given, devlink::LinkOptions& options) {
  options.parallel.threads = given.threads;
  if (given.memory_budget != 0) options.parallel.memory_budget = given.memory_budget;
  options.max_input_bytes = MaxInputBytes(given);
  if (given.max_memory_bytes != 0) options.max_memory_bytes = given.max_memory_bytes;
  options.end_at_rejected_input = given.end_at_rejected_input != 0;
  options.read_thin_members = given.read_thin_members != 0;
  options.details = given.details != 0;
  options.dot_call_graph = given.call_graph_dot != 0;
}

absl::StatusOr<std::shared_ptr<c_api::SessionSurroundings>> Surround(
    const dl_session_options& given) {
  dl_environment environment = {};
  if (given.environment != nullptr) {
    DEVLINK_ASSIGN_OR_RETURN(environment, c_api::ReadStruct(given.environment));
    DEVLINK_RETURN_IF_ERROR(c_api::CallbackEnvironment::Check(environment));
  }
  auto out = std::make_shared<c_api::SessionSurroundings>(
      environment, given.stop == nullptr ? std::stop_token() : given.stop->source.get_token());
  if (given.log != nullptr) out->log.emplace(given.log, given.log_user, given.log_level);
  if (given.progress != nullptr) out->progress.emplace(given.progress, given.progress_user);
  if (given.undefined != nullptr) {
    out->definitions.emplace(given.undefined, given.undefined_user, MaxInputBytes(given));
  }
  if (given.toolchain != nullptr) out->toolchain = given.toolchain->toolchain;
  if (given.pool != nullptr) out->pool = given.pool->pool;
  if (given.time_trace != nullptr) out->time_trace = given.time_trace->trace;
  if (given.register_directory != nullptr) out->register_directory = given.register_directory;
  out->limits = given;
  return out;
}

// Of the options so far.
absl::StatusOr<devlink::NvlinkCommand> Read(const dl_session& session, OptionChecks checks,
                                            std::vector<Diagnostic>& said) {
  const c_api::SessionSurroundings& around = *session.surroundings;
  return c_api::ReadSessionOptions(session.words, checks, around.environment,
                                   MaxInputBytes(around.limits), said);
}

template <typename Optional>
auto* AddressIn(Optional& value) {
  return value ? &*value : nullptr;
}

// Checks the options together and makes a session of them.
absl::Status Begin(dl_session& session, std::vector<Diagnostic>& said) {
  DEVLINK_ASSIGN_OR_RETURN(devlink::NvlinkCommand command,
                           Read(session, OptionChecks::kTogether, said));
  c_api::SessionSurroundings& around = *session.surroundings;
  devlink::LinkOptions options = std::move(command.options);
  TakeLimits(around.limits, options);
  options.register_directory = around.register_directory;
  options.recorded_tool = std::move(command.tool_name);
  DEVLINK_ASSIGN_OR_RETURN(devlink::LinkSession made,
                           devlink::LinkSession::Create(
                               std::move(options), {.environment = &around.environment,
                                                    .pool = around.pool,
                                                    .toolchain = around.toolchain,
                                                    .definitions = AddressIn(around.definitions),
                                                    .log = AddressIn(around.log),
                                                    .progress = AddressIn(around.progress),
                                                    .time_trace = around.time_trace.get()}));
  session.said = said;
  session.libraries = std::move(command.libraries);
  session.session.emplace(std::move(made));
  return absl::OkStatus();
}

// What was said since a session had so many entries, as far as there is memory for it.
std::vector<Diagnostic> SaidSince(const devlink::LinkSession& session, std::size_t entries) {
  std::vector<Diagnostic> out;
  devlink::base::Guard([&] {
    out = session.diagnostics(entries);
    return absl::OkStatus();
  }).IgnoreError();
  return out;
}

}  // namespace

namespace devlink::c_api {

dl_status InSession(dl_session* session, dl_error** error,
                    absl::FunctionRef<absl::Status(LinkSession&)> work) noexcept {
  std::vector<Diagnostic> said;
  const dl_status status = Run(error, [&]() -> absl::Status {
    if (session == nullptr) return Missing("the session");
    if (!session->session) DEVLINK_RETURN_IF_ERROR(Begin(*session, said));
    said.clear();
    session->in_use = true;
    const std::size_t entries = session->session->entries();
    absl::Status done = work(*session->session);
    if (!done.ok() && error != nullptr) said = SaidSince(*session->session, entries);
    return done;
  });
  Explain(error, std::move(said));
  return status;
}

absl::Status CheckBytes(const char* name, const void* data, std::size_t size) {
  if (name == nullptr) return Missing("the name");
  return data == nullptr && size != 0 ? Missing("the input") : absl::OkStatus();
}

}  // namespace devlink::c_api

namespace {

absl::StatusOr<std::unique_ptr<dl_session>> MakeSession(const dl_session_options* options,
                                                        std::vector<Diagnostic>& said) {
  DEVLINK_ASSIGN_OR_RETURN(const dl_session_options given, c_api::ReadStruct(options));
  auto made = std::make_unique<dl_session>();
  DEVLINK_ASSIGN_OR_RETURN(made->surroundings, Surround(given));
  DEVLINK_ASSIGN_OR_RETURN(made->words,
                           c_api::StringsOf(given.options, given.option_count, "the options"));
  bool has_target = given.target != nullptr;
  if (has_target) {
    made->words.insert(made->words.begin(), {"-arch", given.target});
  } else {
    DEVLINK_ASSIGN_OR_RETURN(const devlink::NvlinkCommand command,
                             Read(*made, OptionChecks::kEach, said));
    has_target = command.options.target.number != 0;
  }
  // Without a target the options that are missing may still come.
  if (has_target) DEVLINK_RETURN_IF_ERROR(Begin(*made, said));
  return made;
}

absl::Status SetOption(dl_session& session, const char* option, std::vector<Diagnostic>& said) {
  if (option == nullptr) return c_api::Missing("the option");
  if (session.in_use) {
    return absl::FailedPreconditionError("options come before the first input");
  }
  session.words.emplace_back(option);
  const auto command = Read(session, OptionChecks::kEach, said);
  if (command.ok()) {
    session.session.reset();
  } else {
    session.words.pop_back();
  }
  return command.status();
}

devlink::LinkOutcome LinkInputs(const devlink::LinkSession& session, devlink::OutputSink* sink) {
  return sink == nullptr ? session.Link() : session.LinkTo(*sink);
}

// Libraries are looked for by every link, and stand behind all inputs.
devlink::LinkOutcome LinkAll(const dl_session& session, devlink::OutputSink* sink) {
  if (session.libraries.names.empty()) return LinkInputs(*session.session, sink);
  devlink::LinkSession all = *session.session;
  const auto libraries = all.FindLibraries(session.libraries);
  absl::Status added = libraries.status();
  for (std::size_t i = 0; added.ok() && i < libraries->size(); ++i) {
    added = all.AddFile((*libraries)[i]);
  }
  if (added.ok()) return LinkInputs(all, sink);
  devlink::LinkOutcome failed;
  failed.status = std::move(added);
  failed.diagnostics = all.diagnostics();
  return failed;
}

std::vector<Diagnostic> Joined(const std::vector<Diagnostic>& first,
                               std::vector<Diagnostic> second) {
  if (first.empty()) return second;
  std::vector<Diagnostic> out = first;
  std::move(second.begin(), second.end(), std::back_inserter(out));
  return out;
}

absl::Status Link(const dl_session& session, devlink::OutputSink* sink, dl_outcome** out) {
  if (out == nullptr) return c_api::Missing("the place for the result");
  devlink::LinkOutcome linked = LinkAll(session, sink);
  absl::Status status = linked.status;
  std::vector<Diagnostic> said = Joined(session.said, std::move(linked.diagnostics));
  auto made = std::make_unique<dl_outcome>(std::move(linked), std::move(said),
                                           session.surroundings->register_directory);
  *out = made.release();
  return status;
}

}  // namespace

dl_outcome::dl_outcome(devlink::LinkOutcome&& made, std::vector<Diagnostic> said,
                       std::optional<std::string> directory)
    : outcome(std::move(made)),
      diagnostics(std::move(said)),
      message(outcome.status.message()),
      register_directory(std::move(directory)) {
  for (const devlink::RegisteredInput& input : outcome.registered) {
    first_ids.push_back(ids.size());
    for (const std::string& id : input.ids) ids.push_back(c_api::TextOf(id));
  }
}

extern "C" {

dl_status dl_session_create(const dl_session_options* options, dl_session** out, dl_error** error) {
  std::vector<Diagnostic> said;
  const dl_status status = c_api::Create(out, error, [&] { return MakeSession(options, said); });
  c_api::Explain(error, std::move(said));
  return status;
}

dl_status dl_session_set_option(dl_session* session, const char* option, dl_error** error) {
  std::vector<Diagnostic> said;
  const dl_status status = c_api::Run(error, [&]() -> absl::Status {
    return session == nullptr ? c_api::Missing("the session") : SetOption(*session, option, said);
  });
  c_api::Explain(error, std::move(said));
  return status;
}

dl_status dl_session_add_file(dl_session* session, const char* path, dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    return path == nullptr ? c_api::Missing("the path") : to.AddFile(path);
  });
}

dl_status dl_session_add_bytes(dl_session* session, const char* name, const void* data, size_t size,
                               dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    DEVLINK_RETURN_IF_ERROR(c_api::CheckBytes(name, data, size));
    return to.AddView(name, c_api::SpanOf(data, size));
  });
}

dl_status dl_session_add_cubin(dl_session* session, const char* name, const void* data, size_t size,
                               dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    DEVLINK_RETURN_IF_ERROR(c_api::CheckBytes(name, data, size));
    return to.AddCubin(name, c_api::SpanOf(data, size));
  });
}

dl_status dl_session_add_module(dl_session* session, const char* name, const dl_module* module,
                                dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    if (name == nullptr) return c_api::Missing("the name");
    return module == nullptr ? c_api::Missing("the module") : to.AddModule(name, module->module);
  });
}

dl_status dl_session_add_files(dl_session* session, const char* const* paths, size_t count,
                               dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                             c_api::StringsOf(paths, count, "the paths"));
    return to.AddFiles(files);
  });
}

dl_status dl_session_add_all_bytes(dl_session* session, const dl_input* inputs, size_t count,
                                   dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    if (inputs == nullptr && count != 0) return c_api::Missing("the list of inputs");
    std::vector<devlink::InputView> views;
    for (const dl_input& input : std::span(inputs, count)) {
      DEVLINK_RETURN_IF_ERROR(c_api::CheckBytes(input.name, input.data, input.size));
      views.push_back({.name = input.name, .bytes = c_api::SpanOf(input.data, input.size)});
    }
    return to.AddViews(views);
  });
}

dl_status dl_session_copy(const dl_session* session, dl_session** out, dl_error** error) {
  return c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_session>> {
    if (session == nullptr) return c_api::Missing("the session");
    return std::make_unique<dl_session>(*session);
  });
}

dl_status dl_session_diagnostics(const dl_session* session, dl_diagnostics** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_diagnostics>> {
    if (session == nullptr) return c_api::Missing("the session");
    std::vector<Diagnostic> found;
    if (session->session) found = Joined(session->said, session->session->diagnostics());
    return std::make_unique<dl_diagnostics>(std::move(found));
  });
}

dl_status dl_session_link(dl_session* session, dl_outcome** out, dl_error** error) {
  if (out != nullptr) *out = nullptr;
  return c_api::InSession(session, error,
                          [&](devlink::LinkSession&) { return Link(*session, nullptr, out); });
}

dl_status dl_session_link_to(dl_session* session, const dl_sink* sink, dl_outcome** out,
                             dl_error** error) {
  if (out != nullptr) *out = nullptr;
  return c_api::InSession(session, error, [&](devlink::LinkSession&) -> absl::Status {
    DEVLINK_ASSIGN_OR_RETURN(const dl_sink given, c_api::ReadStruct(sink));
    if (given.append == nullptr) return c_api::Missing("append of a sink");
    c_api::CallbackSink target(given);
    return Link(*session, &target, out);
  });
}

void dl_session_destroy(dl_session* session) { delete session; }

}  // extern "C"
