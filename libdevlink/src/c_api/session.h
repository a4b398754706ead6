// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "c_api/callbacks.h"
#include "c_api/objects.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/library_search.h"
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
  dl_session_options limits = {};  // numbers alone; what its pointers mean stands above
};

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
  devlink::LinkOutcome outcome;  // its diagnostics have moved
  dl_diagnostics diagnostics;
  std::string message;
};
