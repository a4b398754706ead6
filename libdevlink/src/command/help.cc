// SPDX-License-Identifier: Apache-2.0
#include "command/help.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "devlink/nvlink_command.h"
#include "devlink/version.h"

namespace devlink {

namespace internal {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kMeaningAt = 28;  // the column

// Words with lines of at most kWidth characters, the first of which begins at `column`.
void AddWrapped(std::string_view text, std::size_t column, std::string& out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const bool first = column == kMeaningAt;
    if (!first && column + 1 + end > kWidth) {
      out += '\n';
      out.append(kMeaningAt, ' ');
      column = kMeaningAt;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

void AddOption(const Option& option, std::string& out) {
  const std::string names = base::Cat({"  ", OptionNames(option)});
  out += names;
  if (names.size() + 2 > kMeaningAt) {
    out += '\n';
    out.append(kMeaningAt, ' ');
  } else {
    out.append(kMeaningAt - names.size(), ' ');
  }
  AddWrapped(option.help, kMeaningAt, out);
}

std::string TerminalHelp() {
  std::string out =
      "usage: devlink -arch sm_NN -o output.cubin input.cubin...\n\n"
      "Links relocatable device code of CUDA as nvlink does. Inputs are cubins, PTX,\n"
      "fat binaries, LTO IR, host objects and archives.\n";
  for (const HelpGroup& group : HelpGroups()) {
    absl::StrAppend(&out, "\n", base::ToAbsl(group.title), ":\n");
    ForEachOption(group.group, [&](const Option& option) { AddOption(option, out); });
  }
  return out;
}

}  // namespace

std::string OptionNames(const Option& option) {
  std::string out;
  if (!option.short_name.empty()) out = base::Cat({"-", option.short_name});
  // A long name that is the short one needs no second form.
  if (option.short_name != option.long_name) {
    out += base::Cat({out.empty() ? "--" : ", --", option.long_name});
  } else if (IsOwnOption(option)) {
    out = base::Cat({"--", option.long_name});
  }
  if (option.takes == Takes::kOptionalValue) return base::Cat({out, " [", option.value, "]"});
  return option.takes == Takes::kNothing ? out : base::Cat({out, " <", option.value, ">"});
}

bool IsOwnOption(const Option& option) {
  return option.group == Group::kCompatibility || option.group == Group::kTools ||
         option.group == Group::kOwnReports;
}

std::span<const HelpGroup> HelpGroups() {
  static constexpr HelpGroup kGroups[] = {
      {Group::kCommon, "Common options"},
      {Group::kInputs, "Inputs"},
      {Group::kProgram, "What the program has"},
      {Group::kSymbols, "Names of symbols (not nvlink's)"},
      {Group::kLto, "Compiling PTX and LTO IR"},
      {Group::kMessages, "Messages"},
      {Group::kReports, "Reports"},
      {Group::kOwnReports, "Reports that nvlink has not"},
      {Group::kCompatibility, "Which nvlink is followed"},
      {Group::kTools, "Tools and caches"},
      {Group::kAccepted, "Accepted for nvlink's sake"},
  };
  return kGroups;
}

}  // namespace internal

std::string NvlinkHelpText(HelpForm form) {
  switch (form) {
    case HelpForm::kTerminal:
      return internal::TerminalHelp();
    case HelpForm::kMarkdown:
      return internal::MarkdownHelp();
    case HelpForm::kMan:
      return internal::ManPage();
    case HelpForm::kBash:
      return internal::BashCompletion();
    case HelpForm::kZsh:
      return internal::ZshCompletion();
    case HelpForm::kFish:
      return internal::FishCompletion();
  }
  return {};
}

std::string NvlinkVersionText(const ToolkitProfile& profile, std::string_view tool) {
  const std::string own =
      base::Cat({"devlink: open device linker for CUDA, version ", Version(), "\n"});
  if (tool != "devlink") {
    // The shape of nvlink's five lines, which scripts read, and our own behind them.
    return base::Cat({tool, ": in place of NVIDIA (R) Cuda linker\n",
                      "Copyright (c) 2026 The libdevlink authors\n", "Built on libdevlink_",
                      Version(), "\n", profile.version_text, "\n", profile.build_text, "\n", own});
  }
  const std::string_view text = profile.version_text;
  return base::Cat({own, "Writes what nvlink of CUDA ", profile.ReleaseName(), " writes (",
                    text.substr(std::min(text.find("release"), text.size())), ")\n"});
}

}  // namespace devlink
