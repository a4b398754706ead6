// SPDX-License-Identifier: Apache-2.0
//
// Prints what a link says on standard error: as text, in color on a terminal, or as data.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/nvlink_command.h"

namespace devlink::app {

class MessagePrinter {
 public:
  explicit MessagePrinter(std::string tool) : tool_(std::move(tool)) {}

  // What the words of the command say of it.
  void Follow(const NvlinkCommand& command);
  void Follow(MessageFormat format) { format_ = format; }
  [[nodiscard]] bool prints_text() const { return format_ == MessageFormat::kText; }
  void Say(const Diagnostic& diagnostic);
  // Whatever is printed at the end.
  void End();

 private:
  [[nodiscard]] bool UsesColor() const;

  std::string tool_;
  MessageFormat format_ = MessageFormat::kText;
  UseColor color_ = UseColor::kNever;
  std::vector<Diagnostic> kept_;  // of SARIF
};

// The lines of RenderDiagnostic with the kind of each in color: what stands between the name of the
// tool and the colon.
std::string InColor(std::string_view lines);

}  // namespace devlink::app
