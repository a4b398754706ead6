// SPDX-License-Identifier: Apache-2.0
#include "devlink/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

namespace devlink::app {

namespace {

enum class Id {
  kArch,
  kOutput,
  kRelocatable,
  kMachine,
  kLibrary,
  kLibraryPath,
  kDebug,
  kVerbose,
  kHelp,
  kVersion,
  kNoWarnings,
  kNoInfos,
  kWerror,
  kNoStackWarning,
  kNoArchWarning,
  kKeepSystemLibraries,
  kKernelsUsed,
  kVariablesUsed,
  kCpuArch,
  kReportArch,
  kExtraWarnings,
  kSplitCompile,
  kXptxas,
  kMaxRegisters,
  kNoDebugInfo,
  kUseHostInfo,
  kIgnoreHostInfo,
  kStackProtector,
  kRegister,
  kIgnored,
  kIgnoredList,
  kIgnoredValue,
  kReport,
  kToolkit,
  kCompat,
  kPtxBackend,
  kLog,
};

enum class Takes { kNothing, kValue, kList };

// In the order in which nvlink records options in `.note.nv.tkinfo`; those that it does not have,
// or does not record, have no `recorded` name.
struct Option {
  Id id;
  std::string_view short_name;
  std::string_view long_name;
  Takes takes;
  std::string_view recorded;
  std::string_view help;
};

constexpr std::array kOptions = {
    Option{Id::kNoStackWarning, "suppress-stack-size-warning", "suppress-stack-size-warning",
           Takes::kNothing, "suppress-stack-size-warning",
           "do not warn where an entry's stack cannot be determined"},
    Option{Id::kNoArchWarning, "suppress-arch-warning", "suppress-arch-warning", Takes::kNothing,
           "suppress-arch-warning", "do not warn where an input has no code for the target"},
    Option{Id::kOutput, "o", "output-file", Takes::kValue, "", "where to write the linked cubin"},
    Option{Id::kDebug, "g", "debug", Takes::kNothing, "g", "link for the debugger"},
    Option{Id::kArch, "arch", "arch", Takes::kValue, "arch", "the target: sm_75 to sm_90a"},
    Option{Id::kRelocatable, "r", "relocatable-link", Takes::kNothing, "r",
           "write a relocatable cubin, to be linked again"},
    Option{Id::kMachine, "m", "machine", Takes::kValue, "m", "64, the only choice"},
    Option{Id::kLibrary, "l", "library", Takes::kList, "l", "link libNAME.a, behind all files"},
    Option{Id::kLibraryPath, "L", "library-path", Takes::kList, "L",
           "where to look for libraries, before LIBRARY_PATH"},
    Option{Id::kVerbose, "v", "verbose", Takes::kNothing, "v", "print resource usage"},
    Option{Id::kNoWarnings, "w", "disable-warnings", Takes::kNothing, "w",
           "accepted; as with nvlink, no effect"},
    Option{Id::kWerror, "Werror", "warning-as-error", Takes::kNothing, "Werror",
           "turn warnings into errors"},
    Option{Id::kNoInfos, "disable-infos", "disable-infos", Takes::kNothing, "disable-infos",
           "print no warnings (as with nvlink, in spite of the name)"},
    Option{Id::kKeepSystemLibraries, "keep-system-libraries", "keep-system-libraries",
           Takes::kNothing, "keep-system-libraries", "link libcudadevrt even if nothing needs it"},
    Option{Id::kKernelsUsed, "kernels-used", "kernels-used", Takes::kList, "kernels-used",
           "keep only kernels with one of these texts in their names"},
    Option{Id::kVariablesUsed, "variables-used", "variables-used", Takes::kList, "variables-used",
           "as nvlink: given alone, leaves out every kernel"},
    Option{Id::kCpuArch, "cpu-arch", "cpu-arch", Takes::kValue, "cpu-arch",
           "the host that -l libraries must be for: X86_64 (default), AARCH64..."},
    Option{Id::kReportArch, "report-arch", "report-arch", Takes::kNothing, "report-arch",
           "name the target in every message"},
    Option{Id::kExtraWarnings, "extrawarn", "extra-warnings", Takes::kNothing, "extrawarn",
           "accepted, no effect"},
    Option{Id::kSplitCompile, "split-compile", "split-compile", Takes::kValue, "split-compile",
           "threads within one assembly of PTX"},
    Option{Id::kXptxas, "Xptxas", "Xptxas", Takes::kList, "Xptxas", "options for ptxas"},
    Option{Id::kMaxRegisters, "maxrregcount", "maxrregcount", Takes::kValue, "maxrregcount",
           "registers per thread for PTX"},
    Option{Id::kNoDebugInfo, "suppress-debug-info", "suppress-debug-info", Takes::kNothing,
           "suppress-debug-info", "with -g: assemble PTX without it"},
    Option{Id::kUseHostInfo, "use-host-info", "use-host-info", Takes::kNothing, "use-host-info",
           "leave out kernels that no host code refers to (default)"},
    Option{Id::kIgnoreHostInfo, "ignore-host-info", "ignore-host-info", Takes::kNothing,
           "ignore-host-info", "keep all kernels"},
    Option{Id::kStackProtector, "device-stack-protector", "device-stack-protector", Takes::kValue,
           "device-stack-protector", "true or false, for PTX"},
    Option{Id::kRegister, "", "register-link-binaries", Takes::kValue, "",
           "write the ids of linked modules to a file"},
    Option{Id::kIgnoredValue, "host-ccbin", "host-ccbin", Takes::kValue, "", "accepted, no effect"},
    Option{Id::kIgnoredList, "Xlinker", "host-linker-options", Takes::kList, "",
           "accepted, no effect"},
    Option{Id::kIgnored, "shared", "shared", Takes::kNothing, "", "accepted, no effect"},
    Option{Id::kVersion, "V", "version", Takes::kNothing, "", "print the version"},
    Option{Id::kHelp, "h", "help", Takes::kNothing, "", "print this text"},
    Option{Id::kReport, "report", "report", Takes::kValue, "",
           "write a JSON report of the link to a file"},
    Option{Id::kToolkit, "toolkit", "toolkit", Takes::kValue, "",
           "write what nvlink of this CUDA release writes: 13.0 (default) to 13.5"},
    Option{Id::kCompat, "compat", "compat", Takes::kValue, "",
           "nvlink: leave out in silence what nvlink leaves out"},
    Option{Id::kPtxBackend, "ptx-backend", "ptx-backend", Takes::kValue, "",
           "nvptxcompiler, ptxas or nvjitlink"},
    Option{Id::kLog, "log", "log", Takes::kNothing, "", "tell on stderr what the linker does"},
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
    // -m64, -lfoo, -Lfoo; whatever begins like that is taken for a value.
    if (option == nullptr && !is_long && (name[0] == 'm' || name[0] == 'l' || name[0] == 'L')) {
      option = FindOption(std::string_view(name).substr(0, 1), false);
      value = word.substr(2);
    }
    if (option == nullptr) return fmt::format("Unknown option '{}'", word.substr(1));
    if (option->takes == Takes::kNothing) {
      if (value)
        return fmt::format("no argument expected after '{}'", word.substr(0, word.find('=')));
      given.values[option->id] = "";
      continue;
    }
    if (!value) {
      if (i + 1 == words.size()) return fmt::format("argument expected after '{}'", word);
      value = words[++i];
    }
    if (option->takes == Takes::kList) {
      std::string& all = given.values[option->id];
      all += (all.empty() ? "" : ",") + *value;
      continue;
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
      out += option.takes != Takes::kNothing
                 ? fmt::format("-{} {} ", option.recorded, value->second)
                 : fmt::format("-{}  ", option.recorded);
    }
  }
  return out;
}

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// A number as nvlink reads it; a text is what is wrong.
std::optional<std::string> ReadNumber(const std::string& text, int& out) {
  errno = 0;
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0') return fmt::format("'{}': expected a number", text);
  if (errno != 0 || value < INT32_MIN || value > INT32_MAX) {
    return fmt::format("32-bit integer value ({}) out of range", text);
  }
  out = static_cast<int>(value);
  return std::nullopt;
}

// Options of inputs and of the PTX assembler.
std::optional<std::string> InterpretInputs(Given& given) {
  CommandLine& line = given.line;
  const auto has = [&given](Id id) { return given.values.contains(id); };
  if (has(Id::kLibrary)) line.libraries.names = SplitList(given.values[Id::kLibrary]);
  if (has(Id::kLibraryPath)) line.libraries.directories = SplitList(given.values[Id::kLibraryPath]);
  if (has(Id::kCpuArch)) {
    const std::string& name = given.values[Id::kCpuArch];
    const auto cpu = ParseCpuArch(name);
    if (!cpu) return fmt::format("Value '{}' is not defined for option 'cpu-arch'", name);
    line.libraries.arch = *cpu;
  }
  if (has(Id::kMaxRegisters)) {
    if (auto wrong = ReadNumber(given.values[Id::kMaxRegisters], line.options.max_registers)) {
      return wrong;
    }
  }
  if (has(Id::kSplitCompile)) {
    if (auto wrong = ReadNumber(given.values[Id::kSplitCompile], line.options.split_compile)) {
      return wrong;
    }
  }
  if (has(Id::kStackProtector)) {
    const std::string& value = given.values[Id::kStackProtector];
    if (value != "true" && value != "false") {
      return fmt::format("'{}': expected true or false", value);
    }
    line.options.stack_protector = value == "true";
  }
  if (has(Id::kXptxas)) line.options.xptxas.push_back(given.values[Id::kXptxas]);
  if (has(Id::kKernelsUsed)) line.options.kernels_used = SplitList(given.values[Id::kKernelsUsed]);
  if (has(Id::kVariablesUsed)) {
    line.options.variables_used = SplitList(given.values[Id::kVariablesUsed]);
  }
  line.options.keep_system_libraries = has(Id::kKeepSystemLibraries);
  line.options.suppress_debug_info = has(Id::kNoDebugInfo);
  line.options.suppress_arch_warning = has(Id::kNoArchWarning);
  if (has(Id::kUseHostInfo)) line.options.host_info = HostInfo::kUse;
  if (has(Id::kIgnoreHostInfo)) line.options.host_info = HostInfo::kIgnore;
  if (has(Id::kRegister)) line.register_file = given.values[Id::kRegister];
  if (has(Id::kCompat)) {
    if (given.values[Id::kCompat] != "nvlink") {
      return fmt::format("Value '{}' is not defined for option 'compat'",
                         given.values[Id::kCompat]);
    }
    line.options.compatibility = Compatibility::kNvlink;
  }
  if (has(Id::kPtxBackend)) {
    const std::string& name = given.values[Id::kPtxBackend];
    PtxBackend& backend = line.options.ptx_backend.backend;
    if (name == "nvptxcompiler") {
      backend = PtxBackend::kNvPtxCompiler;
    } else if (name == "ptxas") {
      backend = PtxBackend::kPtxas;
    } else if (name == "nvjitlink") {
      backend = PtxBackend::kNvJitLink;
    } else {
      return fmt::format("Value '{}' is not defined for option 'ptx-backend'", name);
    }
  }
  return std::nullopt;
}

// Checks that nvlink makes when all inputs are known.
std::optional<std::string> FindConflict(const Given& given) {
  const auto has = [&given](Id id) { return given.values.contains(id); };
  if (has(Id::kNoDebugInfo) && !has(Id::kDebug)) {
    return "Conflicting options '-suppress-debug-info' and 'no -g'";
  }
  if (has(Id::kUseHostInfo) && has(Id::kIgnoreHostInfo)) {
    return "Conflicting options '-use-host-info' and '-ignore-host-info'";
  }
  return std::nullopt;
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
  if (auto wrong = InterpretInputs(given)) return wrong;
  line.options.debug = has(Id::kDebug);
  line.options.relocatable = has(Id::kRelocatable);
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
  return FindConflict(given);
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
