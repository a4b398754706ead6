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
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "command/option_table.h"
#include "command/words.h"
#include "devlink/experimental/cicc_option_builder.h"
#include "devlink/nvlink_command.h"
#include "format/nvlink_text.h"
#include "plan/option_conflicts.h"

namespace devlink {

namespace internal {
namespace {

absl::Status Wrong(std::initializer_list<std::string_view> pieces) {
  return absl::InvalidArgumentError(base::Cat(pieces));
}

std::string BaseName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
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

  // The options text that nvlink leaves in its output; with -g it begins with the names of the
  // files.
  [[nodiscard]] std::string RecordedOptions() const;

  Parsed parsed;

 private:
  absl::Status ReadOptionsFiles(const std::vector<std::string>& names, int depth);
  absl::Status Take(const Option& option, std::string text, int depth);
  void Remember(const Option& option, OptionValue value);

  const CommandContext& context_;
  int options_files_ = 0;
  std::size_t options_text_ = 0;
  std::map<const Option*, OptionValue> given_;  // the last value; of lists all items
};

// Their words stand in the place of the option, as with nvlink.
absl::Status Reader::ReadOptionsFiles(const std::vector<std::string>& names, int depth) {
  constexpr int kMaxDepth = 16;
  for (const std::string& name : names) {
    const auto text =
        context_.read_options_file ? context_.read_options_file(name) : ReadTextFile(name);
    if (!text) return Wrong({"Could not open options file '", name, "'"});
    options_text_ += text->size();
    if (++options_files_ > kMaxOptionsFiles || options_text_ > kMaxOptionsText) {
      return absl::InvalidArgumentError(
          absl::StrCat("Options file '", name, "' is one too many: of all files together at most ",
                       kMaxOptionsFiles, " and ", kMaxOptionsText >> 20, " MiB are read"));
    }
    if (depth == kMaxDepth) {
      return absl::InvalidArgumentError(absl::StrCat("Options file '", name, "' is included by ",
                                                     depth, " others, perhaps by itself"));
    }
    DEVLINK_RETURN_IF_ERROR(ReadWords(SplitWords(*text), depth + 1));
  }
  return absl::OkStatus();
}

// A value of an option; the text is empty for one that takes none.
absl::Status Reader::Take(const Option& option, std::string text, int depth) {
  OptionValue value{.text = std::move(text), .items = {}};
  if (option.takes == Takes::kList || option.takes == Takes::kFiles) {
    DEVLINK_ASSIGN_OR_RETURN(value.items, ReadList(value.text));
  }
  if (option.takes == Takes::kFiles) return ReadOptionsFiles(value.items, depth);
  if (option.apply != nullptr) DEVLINK_RETURN_IF_ERROR(option.apply(value, parsed));
  Remember(option, std::move(value));
  return absl::OkStatus();
}

void Reader::Remember(const Option& option, OptionValue value) {
  const auto [found, is_first] = given_.try_emplace(&option, value);
  if (is_first) return;
  OptionValue& earlier = found->second;
  if (option.takes == Takes::kValue && earlier.text != value.text) {
    parsed.command.warnings.push_back(
        base::Cat({"incompatible redefinition for option '", option.long_name,
                   "', the last value of this option was used"}));
  }
  earlier.text = std::move(value.text);
  std::move(value.items.begin(), value.items.end(), std::back_inserter(earlier.items));
}

absl::Status Reader::ReadWords(std::span<const std::string> words, int depth) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      parsed.command.inputs.push_back(word);
      continue;
    }
    auto [option, value] = TakeApart(word);
    if (option == nullptr) {
      return Wrong({"Unknown option '", word.substr(1, word.find('=') - 1), "'"});
    }
    if (option->takes == Takes::kNothing && value) {
      return Wrong({"no argument expected after '", word.substr(0, word.find('=')), "'"});
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
  const bool debug = parsed.command.options.debug;
  std::string out;
  if (debug) {
    for (const std::string& input : parsed.command.inputs) {
      out += base::Cat({out.empty() ? "" : ",", BaseName(input)});
    }
    out += ' ';
  }
  for (const Option& option : Options()) {
    const auto found = given_.find(&option);
    if (found == given_.end()) continue;
    const OptionValue& value = found->second;
    const std::string text = option.recorded == Recorded::kFileNameForDebugger
                                 ? BaseName(value.text)
                             : option.takes == Takes::kList ? absl::StrJoin(value.items, ",")
                                                            : value.text;
    if (option.recorded == Recorded::kYes ||
        (option.recorded == Recorded::kFileNameForDebugger && debug)) {
      out += base::Cat({"-", option.short_name, " ", text, " "});
    }
  }
  return out;
}

// What nvlink says of options that make sense with -lto only, and of those with it.
absl::Status FinishLto(Parsed& parsed) {
  LinkOptions& options = parsed.command.options;
  LtoOptions& lto = options.lto;
  if (lto.enabled && !parsed.nvvm_path && options.compatibility == Compatibility::kNvlink) {
    return Wrong({"-nvvmpath should be specified with -lto"});
  }
  std::vector<Diagnostic> found;
  absl::Status wrong_level;
  if (parsed.fast_compile) {
    const auto level = ParseFastCompile(*parsed.fast_compile, &found);
    wrong_level = level.status();
    // A conflict is named before a value that is wrong.
    lto.fast_compile = level.ok() ? *level : FastCompile::kOff;
  }
  DEVLINK_RETURN_IF_ERROR(CheckLtoOptions(options));
  return wrong_level.ok() || found.empty() ? wrong_level : Wrong({found.back().text});
}

// Checks that nvlink makes when all words are read.
absl::Status Finish(Parsed& parsed) {
  const NvlinkCommand& command = parsed.command;
  if (!parsed.has_arch) return Wrong({"Unknown arch name '(null)'"});
  if (!parsed.output && !command.options.check_only) {
    return Wrong({"Must specify output file with -o option"});
  }
  if (command.inputs.empty()) {
    return Wrong({"No input files specified; use option --help for more information"});
  }
  DEVLINK_RETURN_IF_ERROR(CheckDebugOptions(command.options));
  if (parsed.uses_host_info && parsed.ignores_host_info) {
    return Wrong({format::nvlink_text::ConflictingOptions("-use-host-info", "-ignore-host-info")});
  }
  if (!parsed.lto_target.empty()) {
    return Wrong({"Link target of '", parsed.lto_target,
                  "' is virtual target that is not JIT-able; use 'sm_' target instead"});
  }
  return FinishLto(parsed);
}

// With -report-arch the target stands behind what nvlink says once all words are read.
absl::Status NameTarget(const absl::Status& status, const Parsed& parsed) {
  const LinkOptions& options = parsed.command.options;
  if (status.ok() || !options.report_arch || !parsed.has_arch) return status;
  const std::string target = !parsed.lto_target.empty() ? parsed.lto_target
                             : options.check_only       ? options.target.VirtualName()
                                                        : options.target.Name();
  return absl::Status(status.code(),
                      base::Cat({std::string_view(status.message().data(), status.message().size()),
                                 " (target: ", target, ")"}));
}

}  // namespace
}  // namespace internal

absl::StatusOr<NvlinkCommand> ParseNvlinkCommand(std::span<const std::string> words,
                                                 const CommandContext& context) {
  return base::Guard([&]() -> absl::StatusOr<NvlinkCommand> {
    internal::Reader reader(context);
    DEVLINK_RETURN_IF_ERROR(reader.ReadWords(words));
    internal::Parsed& parsed = reader.parsed;
    NvlinkCommand& command = parsed.command;
    LinkOptions& options = command.options;
    if (parsed.uses_host_info) options.host_info = HostInfo::kUse;
    if (parsed.ignores_host_info) options.host_info = HostInfo::kIgnore;
    parsed.command.toolchain.lto.nvvm_path = parsed.nvvm_path.value_or("");
    command.output = parsed.output.value_or("");
    options.recorded_options = reader.RecordedOptions();
    if (options.debug) options.recorded_object = internal::BaseName(command.output);
    if (!command.help && !command.version) {
      DEVLINK_RETURN_IF_ERROR(internal::NameTarget(internal::Finish(parsed), parsed));
    }
    return std::move(command);
  });
}

}  // namespace devlink
