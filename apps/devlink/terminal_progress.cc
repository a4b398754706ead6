// SPDX-License-Identifier: Apache-2.0
#include "devlink/terminal_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "devlink/allocator.h"
#include "process/standard_streams.h"

namespace devlink::app {

namespace {

// To the beginning of the line, and nothing behind the cursor.
constexpr const char* kEraseLine = "\r\x1b[K";
constexpr unsigned kUsualColumns = 80;

}  // namespace

TerminalProgress::TerminalProgress(Interruption& interruption) : interruption_(interruption) {
  if (isatty(STDERR_FILENO) == 0) return;
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  columns_ = known ? size.ws_col : kUsualColumns;
}

void TerminalProgress::Report(const ProgressEvent& event) {
  if (event.phase == LinkPhase::kAssembling) KeepLargeBlocks();
  if (event.phase == LinkPhase::kWriting) ReturnFreePages();
  // What only takes milliseconds would do no more than flicker.
  const bool may_last =
      event.phase == LinkPhase::kLtoCompile || event.phase == LinkPhase::kAssembling;
  if (may_last) interruption_.Watch();
  if (event.phase == LinkPhase::kWriting) interruption_.Hold();
  if (columns_ == 0) return;
  if (!may_last) return Clear();
  PrintError(kEraseLine + ProgressText(event, columns_ - 1));
  is_shown_ = true;
}

void TerminalProgress::Clear() {
  if (!is_shown_) return;
  PrintError(kEraseLine);
  is_shown_ = false;
}

}  // namespace devlink::app
