// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "devlink/environment.h"

namespace devlink::app {

// Asks a link to stop when the process is asked to end (SIGINT, SIGTERM, SIGHUP), so that no child,
// file or folder of it is left. Made once, before the process has threads. Signals that are ignored
// stay ignored. A second signal, or a link that goes on for too long, ends the process at once.
class Interruption final : public ForwardingEnvironment {
 public:
  Interruption();

  [[nodiscard]] std::stop_token StopToken() const override;

  // Whether a signal came.
  [[nodiscard]] bool came() const;
  // Ends the process by the signal that came; returns where none did.
  void EndProcess() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace devlink::app
