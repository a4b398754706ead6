// SPDX-License-Identifier: Apache-2.0
//
// The table of options as text: for a terminal, as documents, and for shells to complete words.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command/option_table.h"

namespace devlink::internal {

struct HelpGroup {
  Group group;
  std::string_view title;
};

// In the order of every text.
std::span<const HelpGroup> HelpGroups();

// In the order of the table.
template <typename Visit>
void ForEachOption(Group group, Visit visit) {
  for (const Option& option : Options()) {
    if (option.group == group) visit(option);
  }
}

// `-o, --output-file <file>`
std::string OptionNames(const Option& option);

// Not nvlink's.
bool IsOwnOption(const Option& option);

std::string MarkdownHelp();  // docs/cli.md
std::string ManPage();
std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

}  // namespace devlink::internal
