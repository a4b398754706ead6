// SPDX-License-Identifier: Apache-2.0
#include "process/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "process/standard_streams.h"

namespace devlink::app {

namespace {

// To the beginning of the line, and nothing behind the cursor.
constexpr const char* kEraseLine = "\r\x1b[K";
constexpr unsigned kUsualColumns = 80;
// What takes less would do no more than flicker.
constexpr std::chrono::milliseconds kMoment{500};

bool CanErase() {
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != 0 && std::string_view(terminal) != "dumb";
}

}  // namespace

TerminalLine::TerminalLine() {
  if (isatty(STDERR_FILENO) == 0 || !CanErase()) return;
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  columns_ = known ? size.ws_col : kUsualColumns;
}

void TerminalLine::Show(std::string text) {
  if (columns_ == 0) return;
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  if (!when_) when_ = Clock::now() + kMoment;
  if (is_shown_ || Clock::now() >= *when_) return Draw();
  if (!waiter_.joinable()) {
    try {
      waiter_ = std::jthread([this](const std::stop_token& stop) { Wait(stop); });
    } catch (const std::system_error&) {
      return;  // what comes later shows it
    }
  }
  changed_.notify_all();
}

void TerminalLine::Draw() {
  PrintError(kEraseLine + text_);
  is_shown_ = true;
}

void TerminalLine::Wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_waiting = [this] { return !is_shown_ && when_.has_value(); };
  while (changed_.wait(lock, stop, is_waiting)) {
    const Clock::time_point when = *when_;
    changed_.wait_until(lock, stop, when, [&] { return !is_waiting(); });
    if (stop.stop_requested()) return;
    if (is_waiting() && Clock::now() >= *when_) Draw();
  }
}

void TerminalLine::Clear() {
  const std::lock_guard lock(mutex_);
  if (is_shown_) PrintError(kEraseLine);
  is_shown_ = false;
  when_.reset();
  changed_.notify_all();
}

}  // namespace devlink::app
