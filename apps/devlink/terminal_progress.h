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

  // Of what was taken for inputs (ExpectToTake) the rest goes back before tables are made, which
  // would lie in it and stay when they are freed. Not for others: what goes back has to be found
  // again.
  void GiveBackWhenRead() { gives_back_ = true; }

  void Report(const ProgressEvent& event) override;

 private:
  Interruption& interruption_;
  TerminalLine& line_;
  bool gives_back_ = false;
};

}  // namespace devlink::app
