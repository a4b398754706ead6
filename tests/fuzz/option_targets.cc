// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assemble/stored_options.h"
#include "command/words.h"
#include "devlink/devlink.h"
#include "devlink/experimental/host_references.h"
#include "devlink/experimental/option_consensus.h"
#include "devlink/nvlink_command.h"
#include "format/host_references.h"
#include "fuzz/targets.h"
#include "input/register_file.h"
#include "model/kernel_selection.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

std::string_view TextOf(FuzzBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  ForEachLine(text, [&lines](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

constexpr std::string_view kKernel = "_Z6kernelPiii";

// The meaning of a pattern, by its definition.
bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  std::vector<bool> ends(name.size() + 1, false);  // a beginning of `name` of that size matches
  ends[0] = true;
  for (const char c : pattern) {
    std::vector<bool> next(name.size() + 1, false);
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (c == '*') {
        next[i] = ends[i] || (i > 0 && next[i - 1]);
      } else {
        next[i] = i > 0 && ends[i - 1] && name[i - 1] == c;
      }
    }
    ends = std::move(next);
  }
  return ends[name.size()];
}

}  // namespace

// The options that fat binaries store with PTX and with LTO IR.
void FuzzOptionText(FuzzBytes bytes) {
  const std::string_view text = TextOf(bytes);
  const std::vector<std::string> words =
      internal::SplitWords(text).value_or(std::vector<std::string>());
  const absl::Status stored = internal::CheckStoredOptions(words);
  if (stored.ok()) {
    for (const std::string& word : words) {
      Expect(word.find('/') == std::string::npos, "a stored option that names a file");
    }
  }
  OptionConsensus consensus;
  for (const std::string& line : Lines(text)) consensus.Vote("module", line);
  std::vector<Diagnostic> found;
  const auto agreed = consensus.Resolve({}, &found);
  Expect(agreed.ok() || !found.empty() || !agreed.status().message().empty(),
         "refused without a word");
}

// A command line, one word per line, with an options file that holds the same text.
void FuzzOptionFile(FuzzBytes bytes) {
  const std::string text(TextOf(bytes));
  CommandContext context;
  context.working_directory = "/work";
  context.read_options_file = [&](const std::string&) -> std::optional<std::string> {
    return text;
  };
  const auto command = ParseNvlinkCommand(Lines(text), context);
  Expect(command.ok() || !command.status().message().empty(), "refused without a word");
  (void)internal::ReadList(text);
  (void)internal::ReadNumber(text);
}

// Module ids and lists of host references, which become text of a file and patterns.
void FuzzRegisterFile(FuzzBytes bytes) {
  const std::string_view text = TextOf(bytes);
  std::vector<std::string> ids;
  std::vector<internal::RegisteredModule> modules;
  for (const std::string& line : Lines(text)) {
    ids.push_back(internal::MakeModuleId("/work", line));
    Expect(internal::IsModuleId(ids.back()), "an id that is no identifier");
  }
  for (const std::string& id : ids) modules.push_back({.ids = {id}});
  const std::string file = internal::RegisterFileText(modules);
  Expect(file.find('\0') == std::string::npos, "a NUL in the register file");
  (void)internal::KeepRegisterFile(std::string(text), true);

  const HostReferences::List list = internal::ReadHostReferenceList(bytes);
  for (const std::string& pattern : list.names) {
    if (pattern.size() > 64) continue;
    Expect(internal::MatchesPattern(pattern, kKernel) == Matches(pattern, kKernel),
           "a pattern matches what it does not stand for");
  }
}

}  // namespace devlink::testing
