// SPDX-License-Identifier: Apache-2.0
#include "devlink/terminal_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "devlink/allocator.h"
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

TerminalProgress::TerminalProgress(Interruption& interruption) : interruption_(interruption) {
  if (isatty(STDERR_FILENO) == 0 || !CanErase()) return;
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  columns_ = known ? size.ws_col : kUsualColumns;
}

void TerminalProgress::Report(const ProgressEvent& event) {
  if (event.phase == LinkPhase::kAssembling) KeepLargeBlocks();
  if (event.phase == LinkPhase::kWriting) ReturnFreePages();
  const bool may_last =
      event.phase == LinkPhase::kLtoCompile || event.phase == LinkPhase::kAssembling;
  if (may_last) interruption_.Watch();
  if (event.phase == LinkPhase::kWriting) interruption_.Hold();
  if (columns_ == 0) return;
  if (!may_last) return Clear();
  Show(ProgressText(event, columns_ - 1));
}

void TerminalProgress::Show(std::string text) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  if (is_shown_) return Draw();
  if (!shown_) shown_ = Clock::now() + kMoment;
  if (Clock::now() >= *shown_) return Draw();
  if (!waiter_.joinable()) {
    try {
      waiter_ = std::jthread([this](const std::stop_token& stop) { Wait(stop); });
    } catch (const std::system_error&) {
      // Later events show it.
    }
  }
  changed_.notify_all();
}

void TerminalProgress::Draw() {
  PrintError(kEraseLine + text_);
  is_shown_ = true;
}

void TerminalProgress::Wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_waiting = [this] { return !is_shown_ && shown_.has_value(); };
  while (!stop.stop_requested()) {
    changed_.wait(lock, stop, is_waiting);
    if (stop.stop_requested()) return;
    const Clock::time_point when = *shown_;
    changed_.wait_until(lock, stop, when, [&] { return !is_waiting(); });
    if (!stop.stop_requested() && is_waiting() && Clock::now() >= *shown_) Draw();
  }
}

void TerminalProgress::Clear() {
  const std::lock_guard lock(mutex_);
  if (is_shown_) PrintError(kEraseLine);
  is_shown_ = false;
  shown_.reset();
  text_.clear();
  changed_.notify_all();
}

}  // namespace devlink::app
