// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "devlink/environment.h"

namespace devlink::app {

// Asks a link to stop when the process is asked to end (SIGINT, SIGTERM, SIGHUP), so that no child,
// file or folder of it is left. Signals that are ignored stay ignored. Used by one thread.
class Interruption final : public ForwardingEnvironment {
 public:
  Interruption();

  [[nodiscard]] std::stop_token StopToken() const override;

  // From now on signals stop the link; before, there is nothing that has to be tidied up, and they
  // end the process. A second one, or a link that goes on for too long, ends it at once. To be
  // called before other threads are started.
  void Watch();
  // From now on, unless Watch was called, signals wait until EndProcess.
  void Hold();

  // Whether a signal came that stopped the link.
  [[nodiscard]] bool came() const;
  // Ends the process by the signal that came; returns where none did.
  void EndProcess();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace devlink::app
