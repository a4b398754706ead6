// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devlink/sinks.h"
#include "process/interruption.h"
#include "process/terminal_line.h"

namespace devlink::app {

// Tells on the terminal what is being compiled. Tells the allocator, and what handles signals, what
// the link is about to do.
class TerminalProgress : public ProgressSink {
 public:
  TerminalProgress(Interruption& interruption, TerminalLine& line)
      : interruption_(interruption), line_(line) {}

  void Report(const ProgressEvent& event) override;

 private:
  Interruption& interruption_;
  TerminalLine& line_;
};

}  // namespace devlink::app
