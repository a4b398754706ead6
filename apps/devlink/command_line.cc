// SPDX-License-Identifier: Apache-2.0
#include "devlink/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "devlink/cicc_option_builder.h"
#include "devlink/words.h"

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
  kLto,
  kDlto,
  kNvvmPath,
  kXnvvm,
  kFastCompile,
  kEmitPtx,
  kForcePartialLto,
  kForceWholeLto,
  kSplitCompileExtended,
  kRegister,
  kOptionsFile,
  kIgnored,
  kIgnoredList,
  kIgnoredValue,
  kReport,
  kToolkit,
  kCompat,
  kKeepReferences,
  kPtxBackend,
  kLtoBackend,
  kCache,
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
    Option{Id::kArch, "arch", "arch", Takes::kValue, "arch",
           "the target: sm_75 to sm_90a; compute_NN only checks inputs"},
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
    Option{Id::kEmitPtx, "emit-ptx", "emit-ptx", Takes::kNothing, "emit-ptx",
           "with -lto: write the PTX and do not assemble it"},
    Option{Id::kExtraWarnings, "extrawarn", "extra-warnings", Takes::kNothing, "extrawarn",
           "accepted, no effect"},
    Option{Id::kLto, "lto", "link-time-opt", Takes::kNothing, "lto",
           "optimize LTO IR at link time"},
    Option{Id::kDlto, "dlto", "dlto", Takes::kNothing, "dlto", "the same"},
    Option{Id::kNvvmPath, "nvvmpath", "nvvmpath", Takes::kValue, "nvvmpath",
           "the folder above lib64/libnvvm.so"},
    Option{Id::kSplitCompile, "split-compile", "split-compile", Takes::kValue, "split-compile",
           "threads within one assembly of PTX"},
    Option{Id::kSplitCompileExtended, "split-compile-extended", "split-compile-extended",
           Takes::kValue, "split-compile-extended", "with -lto: threads, in pieces"},
    Option{Id::kFastCompile, "Ofc", "Ofast-compile", Takes::kValue, "Ofc",
           "with -lto: 0, min, mid or max; less optimization, faster"},
    Option{Id::kXptxas, "Xptxas", "Xptxas", Takes::kList, "Xptxas", "options for ptxas"},
    Option{Id::kXnvvm, "Xnvvm", "Xnvvm", Takes::kList, "Xnvvm", "options for libNVVM"},
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
    Option{Id::kForcePartialLto, "force-partial-lto", "force-partial-lto", Takes::kNothing, "",
           "with -lto: the result is not the whole program"},
    Option{Id::kForceWholeLto, "force-whole-lto", "force-whole-lto", Takes::kNothing, "",
           "with -lto: the result is the whole program"},
    Option{Id::kRegister, "", "register-link-binaries", Takes::kValue, "",
           "write the ids of linked modules to a file"},
    Option{Id::kIgnoredValue, "host-ccbin", "host-ccbin", Takes::kValue, "", "accepted, no effect"},
    Option{Id::kIgnoredList, "Xlinker", "host-linker-options", Takes::kList, "",
           "accepted, no effect"},
    Option{Id::kIgnored, "shared", "shared", Takes::kNothing, "", "accepted, no effect"},
    Option{Id::kOptionsFile, "optf", "options-file", Takes::kList, "",
           "read options and inputs from files"},
    Option{Id::kVersion, "V", "version", Takes::kNothing, "", "print the version"},
    Option{Id::kHelp, "h", "help", Takes::kNothing, "", "print this text"},
    Option{Id::kReport, "report", "report", Takes::kValue, "",
           "write a JSON report of the link to a file"},
    Option{Id::kToolkit, "toolkit", "toolkit", Takes::kValue, "",
           "write what nvlink of this CUDA release writes: 13.0 (default) to 13.5"},
    Option{Id::kCompat, "compat", "compat", Takes::kValue, "",
           "nvlink: leave out in silence what nvlink leaves out"},
    Option{Id::kKeepReferences, "keep-references", "keep-references", Takes::kNothing, "",
           "with -r: leave references to shared memory and constants to the next link"},
    Option{Id::kPtxBackend, "ptx-backend", "ptx-backend", Takes::kValue, "",
           "nvptxcompiler, ptxas or nvjitlink"},
    Option{Id::kLtoBackend, "lto-backend", "lto-backend", Takes::kValue, "", "nvvm or nvjitlink"},
    Option{Id::kCache, "cache", "cache", Takes::kValue, "",
           "a folder that keeps what compilers made, for later links"},
    Option{Id::kLog, "log", "log", Takes::kNothing, "", "tell on stderr what the linker does"},
};

struct Given {
  std::map<Id, std::string> values;              // of lists all, as nvlink records them
  std::map<Id, std::vector<std::string>> lists;  // each value as written
  std::map<Id, std::vector<std::string>> items;  // what is in them
  CommandLine line;
};

const Option* FindOption(std::string_view name, bool is_long) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& option) {
    return (is_long ? option.long_name : option.short_name) == name;
  });
  return found == kOptions.end() ? nullptr : found;
}

std::optional<std::string> ReadWords(const std::vector<std::string>& words, Given& given,
                                     int depth);

// Their words stand in the place of the option, as with nvlink.
std::optional<std::string> ReadOptionsFiles(const std::string& names, Given& given, int depth) {
  constexpr int kMaxDepth = 16;
  std::vector<std::string> files;
  if (auto wrong = ReadList({names}, files)) return wrong;
  for (const std::string& name : files) {
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
    if (auto wrong = ReadWords(SplitWords(text), given, depth + 1)) return wrong;
  }
  return std::nullopt;
}

// Reads the words; a text is what is wrong with them.
std::optional<std::string> ReadWords(const std::vector<std::string>& words, Given& given,
                                     int depth) {
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
    if (option->id == Id::kOptionsFile) {
      if (auto wrong = ReadOptionsFiles(*value, given, depth)) return wrong;
      continue;
    }
    if (option->takes == Takes::kList) {
      given.values[option->id];
      given.lists[option->id].push_back(*value);
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
    } else if (option.id == Id::kRegister) {
      // It has no short name, which is what nvlink writes.
      if (debug) out += fmt::format("- {} ", base_name(value->second));
    } else if (!option.recorded.empty()) {
      out += option.takes != Takes::kNothing
                 ? fmt::format("-{} {} ", option.recorded, value->second)
                 : fmt::format("-{}  ", option.recorded);
    }
  }
  return out;
}

// Options of inputs and of the PTX assembler.
std::optional<std::string> InterpretInputs(Given& given) {
  CommandLine& line = given.line;
  const auto has = [&given](Id id) { return given.values.contains(id); };
  line.libraries.names = given.items[Id::kLibrary];
  line.libraries.directories = given.items[Id::kLibraryPath];
  line.options.kernels_used = given.items[Id::kKernelsUsed];
  line.options.variables_used = given.items[Id::kVariablesUsed];
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
  line.options.xptxas = given.lists[Id::kXptxas];
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

// Options of link-time optimization.
std::optional<std::string> InterpretLto(Given& given) {
  LtoOptions& lto = given.line.options.lto;
  const auto has = [&given](Id id) { return given.values.contains(id); };
  lto.enabled = has(Id::kLto) || has(Id::kDlto);
  lto.emit_ptx = has(Id::kEmitPtx);
  lto.force_partial = has(Id::kForcePartialLto);
  lto.force_whole = has(Id::kForceWholeLto);
  if (has(Id::kNvvmPath)) lto.backend.nvvm_path = given.values[Id::kNvvmPath];
  lto.xnvvm = given.lists[Id::kXnvvm];
  if (has(Id::kSplitCompileExtended)) {
    if (auto wrong =
            ReadNumber(given.values[Id::kSplitCompileExtended], lto.split_compile_extended)) {
      return wrong;
    }
  }
  if (has(Id::kLtoBackend)) {
    const std::string& name = given.values[Id::kLtoBackend];
    if (name == "nvvm") {
      lto.backend.backend = LtoBackend::kNvvm;
    } else if (name == "nvjitlink") {
      lto.backend.backend = LtoBackend::kNvJitLink;
    } else {
      return fmt::format("Value '{}' is not defined for option 'lto-backend'", name);
    }
  }
  return std::nullopt;
}

// What nvlink says of options that make sense with -lto only, and of those with it.
std::optional<std::string> FindLtoConflict(Given& given) {
  const auto has = [&given](Id id) { return given.values.contains(id); };
  LtoOptions& lto = given.line.options.lto;
  if (!lto.enabled) {
    constexpr std::string_view kConflict = "Conflicting options '{}' and 'no -dlto'";
    if (lto.force_partial) return fmt::format(kConflict, "-force-partial-lto");
    if (lto.force_whole) return fmt::format(kConflict, "-force-whole-lto");
    if (lto.emit_ptx) return fmt::format(kConflict, "-emit-ptx");
    if (has(Id::kFastCompile)) return fmt::format(kConflict, "--Ofast-compile");
    return std::nullopt;
  }
  if (!has(Id::kNvvmPath) && given.line.options.compatibility == Compatibility::kNvlink) {
    return "-nvvmpath should be specified with -lto";
  }
  if (lto.force_whole && (lto.force_partial || given.line.options.relocatable)) {
    return "Conflicting options '-force-partial-lto' and '-force-whole-lto'";
  }
  if (has(Id::kFastCompile)) {
    std::vector<Diagnostic> found;
    const auto level = ParseFastCompile(given.values[Id::kFastCompile], &found);
    if (!level.ok()) {
      return found.empty() ? std::string(level.status().message()) : found.back().text;
    }
    lto.fast_compile = *level;
  }
  return std::nullopt;
}

// Checks that nvlink makes when all inputs are known.
std::optional<std::string> FindConflict(Given& given) {
  const auto has = [&given](Id id) { return given.values.contains(id); };
  if (has(Id::kNoDebugInfo) && !has(Id::kDebug)) {
    return "Conflicting options '-suppress-debug-info' and 'no -g'";
  }
  if (has(Id::kUseHostInfo) && has(Id::kIgnoreHostInfo)) {
    return "Conflicting options '-use-host-info' and '-ignore-host-info'";
  }
  return FindLtoConflict(given);
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
    // With a virtual architecture inputs are only checked.
    std::string name = given.values[Id::kArch];
    constexpr std::string_view kVirtual = "compute_";
    line.options.check_only = name.starts_with(kVirtual);
    if (line.options.check_only) name.replace(0, kVirtual.size(), "sm_");
    auto target = Arch::Parse(name);
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
  if (auto wrong = InterpretLto(given)) return wrong;
  line.options.debug = has(Id::kDebug);
  line.options.relocatable = has(Id::kRelocatable);
  line.options.keep_references = has(Id::kKeepReferences);
  line.options.verbose = has(Id::kVerbose);
  line.options.report_arch = has(Id::kReportArch);
  line.options.suppress_warnings = has(Id::kNoInfos);
  line.options.warnings_are_errors = has(Id::kWerror);
  line.options.suppress_stack_size_warning = has(Id::kNoStackWarning);
  if (has(Id::kOutput)) line.output = given.values[Id::kOutput];
  if (has(Id::kReport)) line.report = given.values[Id::kReport];
  if (has(Id::kCache)) line.cache = given.values[Id::kCache];
  line.options.recorded_options = RecordedOptions(given);
  if (line.options.debug) {
    line.options.recorded_object = std::filesystem::path(line.output).filename().string();
  }
  if (line.help || line.version) return std::nullopt;
  if (!has(Id::kArch)) return "Unknown arch name '(null)'";
  if (!has(Id::kOutput) && !line.options.check_only)
    return "Must specify output file with -o option";
  if (line.inputs.empty())
    return "No input files specified; use option --help for more information";
  return FindConflict(given);
}

}  // namespace

std::variant<CommandLine, std::string> ParseCommandLine(const std::vector<std::string>& arguments) {
  Given given;
  if (auto wrong = ReadWords(arguments, given, 0)) return *wrong;
  for (const auto& [id, values] : given.lists) {
    if (auto wrong = ReadList(values, given.items[id])) return *wrong;
    given.values[id] = fmt::format("{}", fmt::join(given.items[id], ","));
  }
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
