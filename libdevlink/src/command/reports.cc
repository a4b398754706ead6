// SPDX-License-Identifier: Apache-2.0
#include "command/reports.h"

#include <set>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "command/dependency_file.h"
#include "command/words.h"
#include "devlink/experimental/link_explanation.h"

namespace devlink::internal {

bool WantsDetails(const NvlinkCommand& command) {
  return !command.report.empty() || !command.map.empty() || !command.why_live.empty() ||
         !command.keep_dir.empty() || !command.why_input.empty() ||
         !command.why_registers.empty() || command.size_table;
}

absl::StatusOr<std::string> AnswersOf(const NvlinkCommand& command, const LinkReport& report) {
  std::string out;
  for (const std::string& symbol : command.why_live) {
    DEVLINK_ASSIGN_OR_RETURN(const std::string text, WhyLive(report, symbol));
    out += text;
  }
  for (const std::string& input : command.why_input) {
    DEVLINK_ASSIGN_OR_RETURN(const std::string text, WhyInput(report, input));
    out += text;
  }
  for (const std::string& kernel : command.why_registers) {
    DEVLINK_ASSIGN_OR_RETURN(const std::string text, WhyRegisters(report, kernel));
    out += text;
  }
  if (command.size_table) {
    DEVLINK_ASSIGN_OR_RETURN(const std::string text, SizeTable(report));
    out += text;
  }
  return out;
}

absl::StatusOr<std::vector<ReportFile>> ReportFiles(const NvlinkCommand& command,
                                                    const LinkOutcome& outcome,
                                                    std::span<const std::string> files) {
  std::vector<ReportFile> out;
  if (command.report.ends_with(".html")) {
    DEVLINK_ASSIGN_OR_RETURN(std::string page,
                             ToHtml(outcome.report, outcome.diagnostics, BaseName(command.output)));
    out.push_back({command.report, std::move(page)});
  } else if (!command.report.empty()) {
    out.push_back({command.report, ToJson(outcome.report)});
  }
  if (!command.map.empty()) {
    DEVLINK_ASSIGN_OR_RETURN(std::string text, LinkMap(outcome.report));
    out.push_back({command.map, std::move(text)});
  }
  if (!command.dependency_file.empty()) {
    std::set<std::string> all(files.begin(), files.end());
    all.insert(command.options_files.begin(), command.options_files.end());
    DEVLINK_ASSIGN_OR_RETURN(std::string text, DependencyRule(command.output, all));
    out.push_back({command.dependency_file, std::move(text)});
  }
  return out;
}

}  // namespace devlink::internal
