// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devlink/progress.h"

namespace devlink::app {

// One line on the terminal that says what is being compiled, while it is. Nothing where standard
// error is no terminal.
class TerminalProgress : public ProgressSink {
 public:
  TerminalProgress();
  ~TerminalProgress() override { Clear(); }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  // For the session; null where there is no terminal.
  [[nodiscard]] ProgressSink* sink() { return columns_ > 0 ? this : nullptr; }
  void Report(const ProgressEvent& event) override;
  // Takes the line away, so that other text can follow.
  void Clear();

 private:
  unsigned columns_ = 0;
  bool is_shown_ = false;
};

}  // namespace devlink::app
