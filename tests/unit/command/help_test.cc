// SPDX-License-Identifier: Apache-2.0
#include "command/help.h"

#include <set>
#include <sstream>
#include <string>

#include "devlink/nvlink_command.h"
#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

using internal::Option;

constexpr HelpForm kForms[] = {HelpForm::kTerminal, HelpForm::kMarkdown, HelpForm::kMan,
                               HelpForm::kBash,     HelpForm::kZsh,      HelpForm::kFish};

TEST_CASE("Every form has every option", "[command]") {
  for (const HelpForm form : kForms) {
    std::string text = NvlinkHelpText(form);
    if (form == HelpForm::kMan) std::erase(text, '\\');
    for (const Option& option : internal::Options()) {
      CAPTURE(static_cast<int>(form), option.long_name);
      CHECK(text.find(option.long_name) != std::string::npos);
    }
  }
}

TEST_CASE("Every option belongs to a group that is listed, and is listed once", "[command]") {
  std::set<std::string_view> listed;
  for (const internal::HelpGroup& group : internal::HelpGroups()) {
    internal::ForEachOption(
        group.group, [&](const Option& option) { CHECK(listed.insert(option.long_name).second); });
  }
  CHECK(listed.size() == internal::Options().size());
}

TEST_CASE("Lines on a terminal have at most 80 columns", "[command]") {
  std::istringstream text(NvlinkHelpText());
  for (std::string line; std::getline(text, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    CHECK_FALSE(line.ends_with(' '));
  }
}

TEST_CASE("Options are named as they are written", "[command]") {
  const auto names = [](std::string_view name) {
    return internal::OptionNames(*internal::FindOption(name, true));
  };
  CHECK(names("output-file") == "-o, --output-file <file>");
  CHECK(names("arch") == "-arch <sm_NN>");
  CHECK(names("report") == "--report <file>");
  CHECK(names("register-link-binaries") == "--register-link-binaries <file>");
  CHECK(names("debug") == "-g, --debug");
  CHECK(names("Ofast-compile") == "-Ofc, --Ofast-compile [level]");
}

// After a change of the table: devlink --help-as=markdown >docs/cli.md
TEST_CASE("docs/cli.md is what the table gives", "[command]") {
  CHECK(ReadText(DEVLINK_SOURCE_ROOT "/docs/cli.md") == NvlinkHelpText(HelpForm::kMarkdown));
}

TEST_CASE("The version has nvlink's shape for a program of its name", "[command]") {
  const std::string own = NvlinkVersionText();
  CHECK(own.starts_with("devlink: "));
  std::istringstream text(NvlinkVersionText({}, "nvlink"));
  std::string line;
  std::getline(text, line);
  CHECK(line.starts_with("nvlink: "));
  CHECK(line.ends_with("NVIDIA (R) Cuda linker"));
  std::getline(text, line);
  CHECK(line.starts_with("Copyright (c) "));
  std::getline(text, line);
  CHECK(line.starts_with("Built on "));
  std::getline(text, line);
  CHECK(line == "Cuda compilation tools, release 13.0, V13.0.88");
  std::getline(text, line);
  CHECK(line.starts_with("Build cuda_13.0"));
  std::getline(text, line);
  CHECK(own.starts_with(line + "\n"));
}

}  // namespace
}  // namespace devlink::testing
