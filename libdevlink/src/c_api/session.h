// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "c_api/callbacks.h"
#include "c_api/objects.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/library_search.h"
#include "devlink/experimental/time_trace.h"
#include "devlink/link_options.h"
#include "devlink/link_session.h"

namespace devlink::c_api {

// What a session and its copies have in common; nothing in it changes.
struct SessionSurroundings {
  SessionSurroundings(const dl_environment& given, std::stop_token stop)
      : environment(given, std::move(stop)) {}

  CallbackEnvironment environment;
  std::optional<CallbackLog> log;
  std::optional<CallbackProgress> progress;
  std::optional<CallbackDefinitions> definitions;
  std::shared_ptr<Toolchain> toolchain;
  std::shared_ptr<ModulePool> pool;
  std::shared_ptr<TimeTrace> time_trace;
  std::optional<std::string> register_directory;
  dl_session_options limits = {};  // numbers alone; what its pointers mean stands above
};

// Runs what uses a session: from then on its options stay. The error has what is wrong with options
// and with what was to be added.
dl_status InSession(dl_session* session, dl_error** error,
                    absl::FunctionRef<absl::Status(LinkSession&)> work) noexcept;

absl::Status CheckBytes(const char* name, const void* data, std::size_t size);
inline std::span<const std::uint8_t> SpanOf(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), size};
}

}  // namespace devlink::c_api

struct dl_session {
  std::shared_ptr<devlink::c_api::SessionSurroundings> surroundings;
  std::vector<std::string> words;  // option texts so far
  bool in_use = false;             // there are no further ones
  // Of these options, once they were checked together, with what they gave rise to and look for.
  std::optional<devlink::LinkSession> session;
  std::vector<devlink::Diagnostic> said;
  devlink::LibraryQuery libraries;
};

struct dl_outcome {
  // `said` is what options and link had to say, `directory` that of the register file.
  dl_outcome(devlink::LinkOutcome&& made, std::vector<devlink::Diagnostic> said,
             std::optional<std::string> directory);
  dl_outcome(const dl_outcome&) = delete;
  dl_outcome& operator=(const dl_outcome&) = delete;

  devlink::LinkOutcome outcome;  // its diagnostics have moved
  dl_diagnostics diagnostics;
  std::string message;
  std::optional<std::string> register_directory;
  std::vector<dl_text> ids;            // of all registered inputs, in their order
  std::vector<std::size_t> first_ids;  // where those of each begin
};
