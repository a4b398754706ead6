// SPDX-License-Identifier: Apache-2.0
#include "devlink/terminal_progress.h"

#include "process/allocator.h"

namespace devlink::app {

void TerminalProgress::Report(const ProgressEvent& event) {
  if (event.phase == LinkPhase::kAssembling) KeepLargeBlocks();
  if (event.phase == LinkPhase::kLinking && gives_back_) ReturnFreePages();
  if (event.phase == LinkPhase::kWriting) ReturnFreePages();
  const bool may_last =
      event.phase == LinkPhase::kLtoCompile || event.phase == LinkPhase::kAssembling;
  if (may_last) interruption_.Watch();
  if (event.phase == LinkPhase::kWriting) interruption_.Hold();
  if (line_.width() == 0) return;
  may_last ? line_.Show(ProgressText(event, line_.width())) : line_.Clear();
}

}  // namespace devlink::app
