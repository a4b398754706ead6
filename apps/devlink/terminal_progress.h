// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "devlink/sinks.h"
#include "process/interruption.h"

namespace devlink::app {

// One line on the terminal that says what is being compiled, while it is, from the moment on that
// it takes longer than one would wait for; none where standard error is not a terminal that can
// take a line away again. Tells the allocator, and what handles signals, what the link is about to
// do.
class TerminalProgress : public ProgressSink {
 public:
  explicit TerminalProgress(Interruption& interruption);
  ~TerminalProgress() override { Clear(); }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  // Shows no line: others write to the terminal without asking for room.
  void Silence() { columns_ = 0; }
  void Report(const ProgressEvent& event) override;
  // Takes the line away, so that other text can follow.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  void Show(std::string text);
  void Draw();  // with the lock held
  // Draws the line if nothing has come of it when its time is there.
  void Wait(const std::stop_token& stop);

  Interruption& interruption_;
  unsigned columns_ = 0;  // 0: not a terminal

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string text_;                        // empty: nothing to be shown
  std::optional<Clock::time_point> shown_;  // from when on
  bool is_shown_ = false;
  std::jthread waiter_;
};

}  // namespace devlink::app
