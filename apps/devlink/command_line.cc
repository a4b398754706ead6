// SPDX-License-Identifier: Apache-2.0
#include "devlink/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

namespace devlink::app {

namespace {

enum class Id {
  kArch,
  kOutput,
  kMachine,
  kDebug,
  kVerbose,
  kHelp,
  kVersion,
  kNoWarnings,
  kNoInfos,
  kWerror,
  kNoStackWarning,
  kNoArchWarning,
  kReportArch,
  kReport,
  kToolkit,
  kLog,
};

// In the order in which nvlink records options in `.note.nv.tkinfo`; those that it does not have,
// or does not record, have no `recorded` name.
struct Option {
  Id id;
  std::string_view short_name;
  std::string_view long_name;
  bool takes_value;
  std::string_view recorded;
  std::string_view help;
};

constexpr std::array kOptions = {
    Option{Id::kNoStackWarning, "suppress-stack-size-warning", "suppress-stack-size-warning", false,
           "suppress-stack-size-warning",
           "do not warn where an entry's stack cannot be determined"},
    Option{Id::kNoArchWarning, "suppress-arch-warning", "suppress-arch-warning", false,
           "suppress-arch-warning", "do not warn where an input has no code for the target"},
    Option{Id::kOutput, "o", "output-file", true, "", "where to write the linked cubin"},
    Option{Id::kDebug, "g", "debug", false, "g", "link for the debugger"},
    Option{Id::kArch, "arch", "arch", true, "arch", "the target: sm_75 to sm_90a"},
    Option{Id::kMachine, "m", "machine", true, "m", "64, the only choice"},
    Option{Id::kVerbose, "v", "verbose", false, "v", "print resource usage"},
    Option{Id::kNoWarnings, "w", "disable-warnings", false, "w",
           "accepted; as with nvlink, no effect"},
    Option{Id::kWerror, "Werror", "warning-as-error", false, "Werror", "turn warnings into errors"},
    Option{Id::kNoInfos, "disable-infos", "disable-infos", false, "disable-infos",
           "print no warnings (as with nvlink, in spite of the name)"},
    Option{Id::kReportArch, "report-arch", "report-arch", false, "report-arch",
           "name the target in every message"},
    Option{Id::kVersion, "V", "version", false, "", "print the version"},
    Option{Id::kHelp, "h", "help", false, "", "print this text"},
    Option{Id::kReport, "report", "report", true, "", "write a JSON report of the link to a file"},
    Option{Id::kToolkit, "toolkit", "toolkit", true, "",
           "write what nvlink of this CUDA release writes: 13.0 (default) to 13.5"},
    Option{Id::kLog, "log", "log", false, "", "tell on stderr what the linker does"},
};

struct Given {
  std::map<Id, std::string> values;
  CommandLine line;
};

const Option* FindOption(std::string_view name, bool is_long) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& option) {
    return (is_long ? option.long_name : option.short_name) == name;
  });
  return found == kOptions.end() ? nullptr : found;
}

// Reads the words; a text is what is wrong with them.
std::optional<std::string> ReadWords(const std::vector<std::string>& words, Given& given) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      given.line.inputs.push_back(word);
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
    if (option == nullptr && !is_long && name[0] == 'm') {  // -m64
      option = FindOption("m", false);
      value = name.substr(1);
    }
    if (option == nullptr) return fmt::format("Unknown option '{}'", word.substr(1));
    if (!option->takes_value) {
      if (value)
        return fmt::format("no argument expected after '{}'", word.substr(0, word.find('=')));
      given.values[option->id] = "";
      continue;
    }
    if (!value) {
      if (i + 1 == words.size()) return fmt::format("argument expected after '{}'", word);
      value = words[++i];
    }
    const auto earlier = given.values.find(option->id);
    if (earlier != given.values.end() && earlier->second != *value) {
      given.line.warnings.push_back(fmt::format(
          "incompatible redefinition for option '{}', the last value of this option was used",
          option->long_name));
    }
    given.values[option->id] = *value;
  }
  return std::nullopt;
}

// The options text that nvlink leaves in its output; with -g it begins with the names of the files.
std::string RecordedOptions(const Given& given) {
  const bool debug = given.values.contains(Id::kDebug);
  const auto base_name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  std::string out;
  if (debug) {
    for (const std::string& input : given.line.inputs) {
      out += (out.empty() ? "" : ",") + base_name(input);
    }
    out += ' ';
  }
  for (const Option& option : kOptions) {
    const auto value = given.values.find(option.id);
    if (value == given.values.end()) continue;
    if (option.id == Id::kOutput) {
      if (debug) out += fmt::format("-o {} ", base_name(value->second));
    } else if (!option.recorded.empty()) {
      out += option.takes_value ? fmt::format("-{} {} ", option.recorded, value->second)
                                : fmt::format("-{}  ", option.recorded);
    }
  }
  return out;
}

// Values into typed options; a text is what is wrong with them.
std::optional<std::string> Interpret(Given& given) {
  CommandLine& line = given.line;
  const auto has = [&given](Id id) { return given.values.contains(id); };
  line.help = has(Id::kHelp);
  line.version = has(Id::kVersion);
  line.log = has(Id::kLog);
  if (has(Id::kMachine) && given.values[Id::kMachine] != "64") {
    return fmt::format("Value '{}' is not defined for option 'machine'",
                       given.values[Id::kMachine]);
  }
  if (has(Id::kArch)) {
    auto target = Arch::Parse(given.values[Id::kArch]);
    if (!target.ok()) {
      return fmt::format("Value '{}' is not defined for option 'arch'", given.values[Id::kArch]);
    }
    line.options.target = *target;
  }
  if (has(Id::kToolkit)) {
    auto profile = ToolkitProfile::ForRelease(given.values[Id::kToolkit]);
    if (!profile.ok()) {
      return fmt::format("Value '{}' is not defined for option 'toolkit'",
                         given.values[Id::kToolkit]);
    }
    line.options.profile = *profile;
  }
  line.options.debug = has(Id::kDebug);
  line.options.verbose = has(Id::kVerbose);
  line.options.report_arch = has(Id::kReportArch);
  line.options.suppress_warnings = has(Id::kNoInfos);
  line.options.warnings_are_errors = has(Id::kWerror);
  line.options.suppress_stack_size_warning = has(Id::kNoStackWarning);
  if (has(Id::kOutput)) line.output = given.values[Id::kOutput];
  if (has(Id::kReport)) line.report = given.values[Id::kReport];
  line.options.recorded_options = RecordedOptions(given);
  if (line.options.debug) {
    line.options.recorded_object = std::filesystem::path(line.output).filename().string();
  }
  if (line.help || line.version) return std::nullopt;
  if (!has(Id::kArch)) return "Unknown arch name '(null)'";
  if (!has(Id::kOutput)) return "Must specify output file with -o option";
  if (line.inputs.empty())
    return "No input files specified; use option --help for more information";
  return std::nullopt;
}

}  // namespace

std::variant<CommandLine, std::string> ParseCommandLine(const std::vector<std::string>& arguments) {
  Given given;
  if (auto wrong = ReadWords(arguments, given)) return *wrong;
  if (auto wrong = Interpret(given)) return *wrong;
  return std::move(given.line);
}

std::string HelpText() {
  std::string out = "usage: devlink -arch sm_NN -o output.cubin input.cubin...\n\n";
  for (const Option& option : kOptions) {
    std::string names = fmt::format("-{}", option.short_name);
    if (option.long_name != option.short_name || option.short_name.size() > 1) {
      names += fmt::format(", --{}", option.long_name);
    }
    out +=
        fmt::format("  {:<62} {}\n", names + (option.takes_value ? " <value>" : ""), option.help);
  }
  return out;
}

}  // namespace devlink::app
