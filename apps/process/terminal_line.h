// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace devlink::app {

// One line of standard error for what goes on, from the moment on that it takes longer than one
// would wait for; none where that is not a terminal that can take a line away again. Used by one
// thread, which prints nothing else without Clear.
class TerminalLine {
 public:
  TerminalLine();
  ~TerminalLine() { Clear(); }
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  // Shows nothing any more: others write to the terminal without asking for room.
  void Silence() { columns_ = 0; }
  // How much text there is room for; 0: nothing is shown.
  [[nodiscard]] std::size_t width() const { return columns_ == 0 ? 0 : columns_ - 1; }
  void Show(std::string text);
  // Takes the line away, so that other text can follow.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  void Draw();  // with the lock held
  // Draws the line if nothing has come of it when its time is there.
  void Wait(const std::stop_token& stop);

  unsigned columns_ = 0;  // 0: not a terminal

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string text_;
  std::optional<Clock::time_point> when_;  // it is shown; nothing: there is none
  bool is_shown_ = false;
  std::jthread waiter_;
};

}  // namespace devlink::app
