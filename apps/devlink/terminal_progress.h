// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devlink/sinks.h"
#include "process/interruption.h"

namespace devlink::app {

// One line on the terminal that says what is being compiled, while it is; none where standard error
// is not a terminal. Tells the allocator, and what handles signals, what the link is about to do.
class TerminalProgress : public ProgressSink {
 public:
  explicit TerminalProgress(Interruption& interruption);
  ~TerminalProgress() override { Clear(); }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void Report(const ProgressEvent& event) override;
  // Takes the line away, so that other text can follow.
  void Clear();

 private:
  Interruption& interruption_;
  unsigned columns_ = 0;  // 0: not a terminal
  bool is_shown_ = false;
};

}  // namespace devlink::app
