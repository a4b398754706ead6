// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "command/finish.h"
#include "command/hints.h"
#include "command/option_table.h"
#include "command/option_words.h"
#include "command/words.h"
#include "devlink/nvlink_command.h"

namespace devlink {

namespace internal {
namespace {

// Whether the record of the link names its files.
bool RecordsFiles(const Parsed& parsed) {
  return parsed.verbose_record.value_or(parsed.command.options.debug);
}

// Bounds on all files of options of one command. Some have no end, and each may name others.
constexpr std::size_t kMaxOptionsText = std::size_t{16} << 20;
constexpr int kMaxOptionsFiles = 4096;

// Up to the bound and a little more. Pipes, too: shells pass them for what another command prints.
std::optional<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) return std::nullopt;
  std::string out;
  std::array<char, 65536> piece;
  while (out.size() <= kMaxOptionsText && file) {
    file.read(piece.data(), piece.size());
    out.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  return out;
}

// A word that begins with a dash, taken apart.
struct OptionWord {
  const Option* option = nullptr;    // null: unknown
  std::optional<std::string> value;  // where it stands in the same word
};

OptionWord TakeApart(const std::string& word) {
  OptionWord out;
  const bool is_long = word[1] == '-';
  std::string name = word.substr(is_long ? 2 : 1);
  if (const auto equal = name.find('='); equal != std::string::npos) {
    out.value = name.substr(equal + 1);
    name.resize(equal);
  }
  out.option = FindOption(name, is_long);
  // -m64, -lfoo, -Lfoo; whatever begins like that is taken for a value.
  if (out.option == nullptr && !is_long && (name[0] == 'm' || name[0] == 'l' || name[0] == 'L')) {
    out.option = FindOption(std::string_view(name).substr(0, 1), false);
    out.value = word.substr(2);
  }
  return out;
}

// Reads words from left to right, as nvlink does: what is wrong first is said.
class Reader {
 public:
  explicit Reader(const CommandContext& context) : context_(context) {}

  absl::Status ReadWords(std::span<const std::string> words, int depth = 0);

  // The options text that nvlink leaves in its output; one that names files begins with those of
  // the inputs.
  [[nodiscard]] std::string RecordedOptions() const;

  [[nodiscard]] bool IsGiven(const Option& option) const { return given_.contains(&option); }

  Parsed parsed;
  std::vector<CommandMessage> messages;
  std::vector<std::string> notes;  // on the word that is wrong
  bool plain_at_sign = false;      // as with nvlink, `@file` is an input of that name

  // Behind ReadWords: the file that the last --retain-symbols-file names.
  absl::Status ReadRetainedSymbols();

 private:
  absl::Status ReadOptionsFiles(const std::vector<std::string>& names, int depth);
  // False where it cannot be read.
  absl::StatusOr<bool> TryOptionsFile(const std::string& name, int depth);
  std::optional<std::string> TextOf(const std::string& file) const;
  absl::Status Take(const Option& option, std::string text, int depth);
  void Remember(const Option& option, OptionValue value);

  const CommandContext& context_;
  int options_files_ = 0;
  std::size_t options_text_ = 0;
  std::map<const Option*, OptionValue> given_;  // the last value; of lists all items
};

// Their words stand in the place of the option, as with nvlink.
absl::Status Reader::ReadOptionsFiles(const std::vector<std::string>& names, int depth) {
  for (const std::string& name : names) {
    DEVLINK_ASSIGN_OR_RETURN(const bool is_there, TryOptionsFile(name, depth));
    if (!is_there) return Wrong({"Could not open options file '", name, "'"});
  }
  return absl::OkStatus();
}

std::optional<std::string> Reader::TextOf(const std::string& file) const {
  return context_.read_options_file ? context_.read_options_file(file) : ReadTextFile(file);
}

// One name in a line, or several.
absl::Status Reader::ReadRetainedSymbols() {
  const auto& file = parsed.command.retained_symbols_file;
  if (!file) return absl::OkStatus();
  const auto text = TextOf(*file);
  if (!text) return Wrong({"Could not open file of symbols '", *file, "'"});
  auto& names = parsed.command.options.retained_symbols.emplace();
  for (const absl::string_view name :
       absl::StrSplit(*text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    names.emplace_back(name);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Reader::TryOptionsFile(const std::string& name, int depth) {
  constexpr int kMaxDepth = 15;  // nvlink's
  const auto text = TextOf(name);
  if (!text) return false;
  parsed.command.options_files.push_back(name);
  options_text_ += text->size();
  if (++options_files_ > kMaxOptionsFiles || options_text_ > kMaxOptionsText) {
    return absl::InvalidArgumentError(
        absl::StrCat("Options file '", name, "' is one too many: of all files together at most ",
                     kMaxOptionsFiles, " and ", kMaxOptionsText >> 20, " MiB are read"));
  }
  if (depth == kMaxDepth) {
    notes.push_back(absl::StrCat("it is included by ", depth, " others, perhaps by itself"));
    return Wrong({"Too many options file opened '", name, "'"});
  }
  DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::string> words, SplitWords(*text));
  DEVLINK_RETURN_IF_ERROR(ReadWords(words, depth + 1));
  return true;
}

// A value of an option; the text is empty for one that takes none.
absl::Status Reader::Take(const Option& option, std::string text, int depth) {
  if (option.concern == Concern::kLink || option.concern == Concern::kTools) {
    std::string word = option.short_name.empty() || option.recorded == Recorded::kNo
                           ? base::Cat({"--", option.long_name})
                           : base::Cat({"-", option.short_name});
    if (option.takes != Takes::kNothing) word += base::Cat({"=", text});
    parsed.command.words.push_back(std::move(word));
  }
  OptionValue value{.text = std::move(text), .items = {}};
  if (option.takes == Takes::kList || option.takes == Takes::kFiles) {
    DEVLINK_ASSIGN_OR_RETURN(value.items, ReadList(value.text));
  }
  if (option.takes == Takes::kNumber && !value.text.empty()) {  // nothing is 0
    const auto number = ReadNumber(value.text);
    // `-maxregcount=32` is taken for -m, as nvlink does.
    if (!number.ok() && option.short_name == "m") {
      notes = HintsOnOption(base::Cat({"-", option.short_name, value.text}));
    }
    DEVLINK_RETURN_IF_ERROR(number.status());
    value.number = *number;
  }
  if (option.takes == Takes::kFiles) {
    Remember(option, {});
    return ReadOptionsFiles(value.items, depth);
  }
  if (option.apply != nullptr) {
    const absl::Status taken = option.apply(value, parsed);
    if (!taken.ok() && option.long_name == "arch") notes = HintsOnArch(value.text);
    DEVLINK_RETURN_IF_ERROR(taken);
  }
  if (option.takes == Takes::kNumber) value.text = std::to_string(value.number);
  Remember(option, std::move(value));
  return absl::OkStatus();
}

void Reader::Remember(const Option& option, OptionValue value) {
  const auto [found, is_first] = given_.try_emplace(&option, value);
  if (is_first) return;
  OptionValue& earlier = found->second;
  const bool is_single = option.takes == Takes::kValue || option.takes == Takes::kNumber ||
                         option.takes == Takes::kOptionalValue;
  if (is_single && earlier.text != value.text) {
    messages.push_back({.diagnostic = {.severity = Severity::kWarning,
                                       .text = base::Cat({"incompatible redefinition for option '",
                                                          option.long_name,
                                                          "', the last value of this option was "
                                                          "used"})},
                        .tool = {}});
  }
  earlier.text = std::move(value.text);
  std::move(value.items.begin(), value.items.end(), std::back_inserter(earlier.items));
}

absl::Status Reader::ReadWords(std::span<const std::string> words, int depth) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() > 1 && word[0] == '@' && !plain_at_sign) {
      DEVLINK_ASSIGN_OR_RETURN(const bool is_list, TryOptionsFile(word.substr(1), depth));
      if (is_list) continue;
    }
    if (word.size() < 2 || word[0] != '-') {
      parsed.command.inputs.push_back(word);
      continue;
    }
    auto [option, value] = TakeApart(word);
    if (option == nullptr) {
      notes = HintsOnOption(word);
      return Wrong({"Unknown option '", word.substr(1, word.find('=') - 1), "'"});
    }
    if (option->takes == Takes::kNothing && value) {
      return Wrong({"no argument expected after '", word.substr(0, word.find('=')), "'"});
    }
    if (option->takes == Takes::kOptionalValue && !value) {
      if (i + 1 == words.size() || words[i + 1].starts_with('-')) value = option->value_if_none;
    }
    if (option->takes != Takes::kNothing && !value) {
      if (i + 1 == words.size()) return Wrong({"argument expected after '", word, "'"});
      value = words[++i];
    }
    DEVLINK_RETURN_IF_ERROR(Take(*option, std::move(value).value_or(""), depth));
  }
  return absl::OkStatus();
}

std::string Reader::RecordedOptions() const {
  const bool names_files = RecordsFiles(parsed);
  std::string out;
  if (names_files && !parsed.command.inputs.empty()) {
    for (const std::string& input : parsed.command.inputs) {
      out += base::Cat({out.empty() ? "" : ",", BaseName(input)});
    }
    out += ' ';
  }
  for (const Option& option : Options()) {
    const auto found = given_.find(&option);
    if (found == given_.end() || option.recorded == Recorded::kNo) continue;
    if (option.recorded != Recorded::kYes && !names_files) continue;
    const OptionValue& value = found->second;
    const std::string text = option.recorded == Recorded::kFileNameForDebugger
                                 ? BaseName(value.text)
                             : option.takes == Takes::kList ? absl::StrJoin(value.items, ",")
                                                            : value.text;
    out += base::Cat({"-", option.short_name, " ", text, " "});
  }
  return out;
}

}  // namespace
}  // namespace internal

namespace {

// What the rows filled in becomes the command.
void Settle(const internal::Reader& reader, internal::Parsed& parsed) {
  NvlinkCommand& command = parsed.command;
  LinkOptions& options = command.options;
  if (parsed.uses_host_info) options.host_info = HostInfo::kUse;
  if (parsed.ignores_host_info) options.host_info = HostInfo::kIgnore;
  options.dump_call_graph = parsed.dump_callgraph || parsed.dump_mangled;
  options.dot_call_graph = command.dot_file.has_value();
  command.toolchain.lto.nvvm_path = parsed.nvvm_path.value_or("");
  command.output = parsed.output.value_or("");
  options.recorded_options = reader.RecordedOptions();
  if (internal::RecordsFiles(parsed)) {
    options.recorded_object = internal::BaseName(command.output);
  }
}

// Whether nvlink's behaviour is asked for, perhaps behind the word that is wrong.
bool AsksForNvlink(std::span<const std::string> words) {
  return internal::IsAskedFor(words, "compat", "nvlink");
}

// What is read of words: a command, or its options alone.
absl::StatusOr<internal::Parsed> Parse(internal::Reader& reader, std::span<const std::string> words,
                                       const std::optional<internal::Files>& finish) {
  absl::Status status = reader.ReadWords(words);
  internal::Parsed& parsed = reader.parsed;
  const bool words_are_good = status.ok();
  if (words_are_good) {
    Settle(reader, parsed);
    status = reader.ReadRetainedSymbols();
    if (status.ok() && finish && !parsed.command.help && !parsed.command.version) {
      status = internal::FinishCommand(parsed, *finish, reader.messages);
      const bool links = parsed.command.host_linker_script == HostLinkerScript::kNone;
      if (links && parsed.arch.empty()) reader.notes = internal::HintsOnMissingArch();
    }
  }
  if (status.ok()) return std::move(parsed);
  CommandMessage& fatal = reader.messages.emplace_back();
  fatal.diagnostic.severity = Severity::kFatal;
  fatal.diagnostic.text = std::string(status.message());
  if (words_are_good) fatal.tool = parsed.command.tool_name;
  if (!AsksForNvlink(words)) fatal.diagnostic.notes = std::move(reader.notes);
  return status;
}

}  // namespace

MessageFormat MessageFormatOf(std::span<const std::string> words) {
  constexpr std::string_view kOption = "diagnostics-format";
  if (internal::IsAskedFor(words, kOption, "sarif")) return MessageFormat::kSarif;
  if (internal::IsAskedFor(words, kOption, "json")) return MessageFormat::kJson;
  return MessageFormat::kText;
}

absl::StatusOr<NvlinkCommand> ParseNvlinkCommand(std::span<const std::string> words,
                                                 const CommandContext& context,
                                                 std::vector<CommandMessage>* messages) {
  return base::Guard([&]() -> absl::StatusOr<NvlinkCommand> {
    internal::Reader reader(context);
    reader.plain_at_sign = AsksForNvlink(words);
    absl::StatusOr<internal::Parsed> parsed = Parse(reader, words, internal::Files::kNeeded);
    if (messages != nullptr) *messages = std::move(reader.messages);
    if (!parsed.ok()) return parsed.status();
    return std::move(parsed->command);
  });
}

namespace internal {

absl::StatusOr<LinkOptionWords> ParseOptionWords(std::span<const std::string> words,
                                                 const CommandContext& context, OptionChecks checks,
                                                 std::vector<CommandMessage>& messages) {
  Reader reader(context);
  absl::StatusOr<Parsed> parsed =
      Parse(reader, words,
            checks == OptionChecks::kTogether ? std::optional(Files::kOptional) : std::nullopt);
  messages = std::move(reader.messages);
  if (!parsed.ok()) return parsed.status();
  if (!parsed->command.inputs.empty()) {
    return Wrong({"'", parsed->command.inputs.front(), "' is not an option"});
  }
  LinkOptionWords out{.command = std::move(parsed->command), .given = {}};
  for (const Option& option : Options()) {
    if (reader.IsGiven(option)) out.given.push_back(&option);
  }
  return out;
}

}  // namespace internal

}  // namespace devlink
