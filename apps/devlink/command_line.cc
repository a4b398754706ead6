// SPDX-License-Identifier: Apache-2.0
#include "devlink/command_line.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "devlink/experimental/cicc_option_builder.h"
#include "devlink/option_table.h"
#include "devlink/words.h"

namespace devlink::app {

namespace {

// Reads words from left to right, as nvlink does: what is wrong first is said.
class Reader {
 public:
  Problem ReadWords(const std::vector<std::string>& words, int depth = 0);

  // The options text that nvlink leaves in its output; with -g it begins with the names of the
  // files.
  [[nodiscard]] std::string RecordedOptions() const;

  Parsed parsed;

 private:
  Problem ReadOptionsFiles(const std::vector<std::string>& names, int depth);
  Problem Take(const Option& option, std::string text, int depth);

  std::map<const Option*, OptionValue> given_;  // the last value; of lists all items
};

// Their words stand in the place of the option, as with nvlink.
Problem Reader::ReadOptionsFiles(const std::vector<std::string>& names, int depth) {
  constexpr int kMaxDepth = 16;
  for (const std::string& name : names) {
    std::ifstream file(name, std::ios::binary);
    std::error_code error;
    if (!file || std::filesystem::is_directory(name, error)) {
      return fmt::format("Could not open options file '{}'", name);
    }
    if (depth == kMaxDepth) {
      return fmt::format("Options file '{}' is included by {} others, perhaps by itself", name,
                         depth);
    }
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (auto wrong = ReadWords(SplitWords(text), depth + 1)) return wrong;
  }
  return std::nullopt;
}

// A value of an option; the text is empty for one that takes none.
Problem Reader::Take(const Option& option, std::string text, int depth) {
  OptionValue value{.text = std::move(text), .items = {}};
  if (option.takes == Takes::kList || option.takes == Takes::kFiles) {
    if (auto wrong = ReadList({value.text}, value.items)) return wrong;
  }
  if (option.takes == Takes::kFiles) return ReadOptionsFiles(value.items, depth);
  if (option.apply != nullptr) {
    if (auto wrong = option.apply(value, parsed)) return wrong;
  }
  const auto [earlier, is_first] = given_.try_emplace(&option, value);
  if (is_first) return std::nullopt;
  if (option.takes == Takes::kValue && earlier->second.text != value.text) {
    parsed.line.warnings.push_back(fmt::format(
        "incompatible redefinition for option '{}', the last value of this option was used",
        option.long_name));
  }
  earlier->second.text = std::move(value.text);
  std::move(value.items.begin(), value.items.end(), std::back_inserter(earlier->second.items));
  return std::nullopt;
}

Problem Reader::ReadWords(const std::vector<std::string>& words, int depth) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      parsed.line.inputs.push_back(word);
      continue;
    }
    const bool is_long = word[1] == '-';
    std::string name = word.substr(is_long ? 2 : 1);
    std::optional<std::string> value;
    if (const auto equal = name.find('='); equal != std::string::npos) {
      value = name.substr(equal + 1);
      name.resize(equal);
    }
    const Option* option = FindOption(name, is_long);
    // -m64, -lfoo, -Lfoo; whatever begins like that is taken for a value.
    if (option == nullptr && !is_long && (name[0] == 'm' || name[0] == 'l' || name[0] == 'L')) {
      option = FindOption(std::string_view(name).substr(0, 1), false);
      value = word.substr(2);
    }
    if (option == nullptr) return fmt::format("Unknown option '{}'", word.substr(1));
    if (option->takes == Takes::kNothing && value) {
      return fmt::format("no argument expected after '{}'", word.substr(0, word.find('=')));
    }
    if (option->takes != Takes::kNothing && !value) {
      if (i + 1 == words.size()) return fmt::format("argument expected after '{}'", word);
      value = words[++i];
    }
    if (auto wrong = Take(*option, std::move(value).value_or(""), depth)) return wrong;
  }
  return std::nullopt;
}

std::string Reader::RecordedOptions() const {
  const bool debug = parsed.line.options.debug;
  const auto base_name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  std::string out;
  if (debug) {
    for (const std::string& input : parsed.line.inputs) {
      out += (out.empty() ? "" : ",") + base_name(input);
    }
    out += ' ';
  }
  for (const Option& option : Options()) {
    const auto found = given_.find(&option);
    if (found == given_.end()) continue;
    const OptionValue& value = found->second;
    if (option.recorded == Recorded::kFileNameForDebugger) {
      if (debug) out += fmt::format("-{} {} ", option.short_name, base_name(value.text));
    } else if (option.recorded == Recorded::kYes) {
      out +=
          fmt::format("-{} {} ", option.short_name,
                      option.takes == Takes::kList ? fmt::format("{}", fmt::join(value.items, ","))
                                                   : value.text);
    }
  }
  return out;
}

// What nvlink says of options that make sense with -lto only, and of those with it.
Problem FindLtoConflict(Parsed& parsed) {
  LinkOptions& options = parsed.line.options;
  LtoOptions& lto = options.lto;
  if (!lto.enabled) {
    constexpr std::string_view kConflict = "Conflicting options '{}' and 'no -dlto'";
    if (lto.force_partial) return fmt::format(kConflict, "-force-partial-lto");
    if (lto.force_whole) return fmt::format(kConflict, "-force-whole-lto");
    if (lto.emit_ptx) return fmt::format(kConflict, "-emit-ptx");
    if (parsed.fast_compile) return fmt::format(kConflict, "--Ofast-compile");
    return std::nullopt;
  }
  if (!parsed.nvvm_path && options.compatibility == Compatibility::kNvlink) {
    return "-nvvmpath should be specified with -lto";
  }
  if (lto.force_whole && (lto.force_partial || options.relocatable)) {
    return "Conflicting options '-force-partial-lto' and '-force-whole-lto'";
  }
  if (parsed.fast_compile) {
    std::vector<Diagnostic> found;
    const auto level = ParseFastCompile(*parsed.fast_compile, &found);
    if (!level.ok()) {
      return found.empty() ? std::string(level.status().message()) : found.back().text;
    }
    lto.fast_compile = *level;
  }
  return std::nullopt;
}

// Checks that nvlink makes when all words are read.
Problem FindConflict(Parsed& parsed) {
  const LinkOptions& options = parsed.line.options;
  if (!parsed.has_arch) return "Unknown arch name '(null)'";
  if (!parsed.output && !options.check_only) return "Must specify output file with -o option";
  if (parsed.line.inputs.empty()) {
    return "No input files specified; use option --help for more information";
  }
  if (options.suppress_debug_info && !options.debug) {
    return "Conflicting options '-suppress-debug-info' and 'no -g'";
  }
  if (parsed.uses_host_info && parsed.ignores_host_info) {
    return "Conflicting options '-use-host-info' and '-ignore-host-info'";
  }
  return FindLtoConflict(parsed);
}

}  // namespace

std::variant<CommandLine, std::string> ParseCommandLine(const std::vector<std::string>& arguments) {
  Reader reader;
  Parsed& parsed = reader.parsed;
  if (auto wrong = reader.ReadWords(arguments)) return *std::move(wrong);
  CommandLine& line = parsed.line;
  LinkOptions& options = line.options;
  if (parsed.uses_host_info) options.host_info = HostInfo::kUse;
  if (parsed.ignores_host_info) options.host_info = HostInfo::kIgnore;
  options.lto.backend.nvvm_path = parsed.nvvm_path.value_or("");
  line.output = parsed.output.value_or("");
  options.recorded_options = reader.RecordedOptions();
  if (options.debug) {
    options.recorded_object = std::filesystem::path(line.output).filename().string();
  }
  if (!line.help && !line.version) {
    if (auto wrong = FindConflict(parsed)) return *std::move(wrong);
  }
  return std::move(line);
}

std::string HelpText() {
  std::string out = "usage: devlink -arch sm_NN -o output.cubin input.cubin...\n\n";
  for (const Option& option : Options()) {
    std::string names = option.short_name.empty() ? fmt::format("--{}", option.long_name)
                                                  : fmt::format("-{}", option.short_name);
    if (!option.short_name.empty() &&
        (option.long_name != option.short_name || option.short_name.size() > 1)) {
      names += fmt::format(", --{}", option.long_name);
    }
    out += fmt::format("  {:<62} {}\n", names + (option.takes != Takes::kNothing ? " <value>" : ""),
                       option.help);
  }
  return out;
}

}  // namespace devlink::app
