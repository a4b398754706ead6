// SPDX-License-Identifier: Apache-2.0
//
// devlink-inspect FILE...: shows what is in files of the CUDA world (docs/inspect.md).
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/readable_names.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "devlink-inspect/command_line.h"
#include "devlink-inspect/extract.h"
#include "devlink-inspect/html_report.h"
#include "devlink-inspect/inspect.h"
#include "devlink-inspect/json_report.h"
#include "devlink-inspect/text_report.h"
#include "devlink/version.h"
#include "process/standard_streams.h"

namespace devlink::inspect {
namespace {

using app::PrintError;
using app::PrintOut;

constexpr int kShown = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

void SayError(std::string_view text) {
  PrintError(base::Cat({"devlink-inspect error   : ", base::VisibleText(text), "\n"}));
}

// Calls `use` with each file that can be read; false where one cannot.
template <typename Use>
bool ForEachFile(const std::vector<std::string>& files, Use use) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 33;
  bool all = true;
  for (const std::string& path : files) {
    const auto bytes = base::ReadFile(path, kLargest);
    if (bytes.ok()) {
      use(path, *bytes);
    } else {
      SayError(base::Cat({"'", path, "': ", base::FromAbsl(bytes.status().message())}));
      all = false;
    }
  }
  return all;
}

// Of all files together.
template <typename Shown>
bool ShowIn(Shown& report, const CommandLine& command) {
  const InspectOptions options{.choice = command.choice};
  const bool all = ForEachFile(command.files, [&](const std::string& path, const auto& bytes) {
    InspectBytes(path, bytes, options, report);
  });
  if constexpr (requires { report.Finish(); }) report.Finish();
  return all && report.problems() == 0;
}

bool Show(const CommandLine& command) {
  base::ReadableNames names(command.demangle);
  if (command.json) {
    JsonReport report(PrintOut, names);
    return ShowIn(report, command);
  }
  if (command.html) {
    std::string title = command.files.front();
    if (command.files.size() > 1) {
      title += base::Cat({" and ", std::to_string(command.files.size() - 1), " more"});
    }
    HtmlReport report(PrintOut, names, title);
    return ShowIn(report, command);
  }
  TextReport report(PrintOut, names);
  return ShowIn(report, command);
}

bool Extract(const CommandLine& command) {
  Extractor report(
      {.member = command.extract, .directory = command.directory, .force = command.force},
      [](std::string_view name) { PrintOut(base::Cat({name, "\n"})); }, SayError);
  if (const absl::Status status = report.Open(); !status.ok()) {
    SayError(base::FromAbsl(status.message()));
    return false;
  }
  const bool all = ForEachFile(command.files, [&](const std::string& path, const auto& bytes) {
    report.BeginFile(path);
    InspectBytes(path, bytes, {.only_contents = true}, report);
    report.EndFile();
  });
  return all && report.problems() == 0;
}

int Main(const std::vector<std::string>& words) {
  app::SecureStandardStreams();
  const auto command = ParseCommandLine(words);
  if (!command.ok()) {
    SayError(base::FromAbsl(command.status().message()));
    PrintError("usage: devlink-inspect [OPTION...] FILE... (--help tells more)\n");
    return kUsage;
  }
  bool good = true;
  if (command->help) {
    PrintOut(HelpText());
  } else if (command->version) {
    PrintOut(base::Cat({"devlink-inspect ", Version(), "\n"}));
  } else {
    good = command->extract.empty() ? Show(*command) : Extract(*command);
  }
  if (app::OutputWasTaken()) return good ? kShown : kFailed;
  SayError("Could not write to standard output");
  return kFailed;
}

}  // namespace
}  // namespace devlink::inspect

int main(int argc, char** argv) { return devlink::inspect::Main({argv + 1, argv + argc}); }
