// SPDX-License-Identifier: Apache-2.0
#include "process/message_printer.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "process/standard_streams.h"

namespace devlink::app {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kKinds = {{
    {" fatal   :", "\x1b[1;31m"},
    {" error   :", "\x1b[1;31m"},
    {" warning :", "\x1b[1;35m"},
    {" note    :", "\x1b[1;36m"},
    {" info    :", "\x1b[1;34m"},
}};
constexpr std::string_view kPlain = "\x1b[0m";

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string InColor(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    std::size_t first = line.size();
    std::string_view color;
    std::string_view kind;
    for (const auto& [words, of_kind] : kKinds) {
      if (const std::size_t at = line.find(words); at < first) {
        first = at;
        color = of_kind;
        kind = words;
      }
    }
    out += line.substr(0, first);
    if (!kind.empty()) {
      out += color;
      out += kind.substr(0, kind.size() - 1);
      out += kPlain;
      out += line.substr(first + kind.size() - 1);
    }
    if (end == std::string_view::npos) break;
    out += '\n';
    lines.remove_prefix(end + 1);
  }
  return out;
}

void MessagePrinter::Follow(const NvlinkCommand& command) {
  tool_ = command.tool_name.value_or(tool_);
  format_ = command.message_format;
  color_ = command.color;
}

bool MessagePrinter::UsesColor() const {
  if (color_ != UseColor::kAutomatic) return color_ == UseColor::kAlways;
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && !IsSet("NO_COLOR") && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

void MessagePrinter::Say(const Diagnostic& diagnostic) {
  switch (format_) {
    case MessageFormat::kText: {
      const std::string lines = RenderCommandLine(diagnostic, tool_);
      PrintError(UsesColor() ? InColor(lines) : lines);
      break;
    }
    case MessageFormat::kJson:
      PrintError(ToJson(diagnostic) + "\n");
      break;
    case MessageFormat::kSarif:
      kept_.push_back(diagnostic);
      break;
  }
}

void MessagePrinter::End() {
  if (format_ == MessageFormat::kSarif) PrintError(ToSarif(kept_));
}

}  // namespace devlink::app
