// SPDX-License-Identifier: Apache-2.0
#include "command/option_table.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "command/words.h"
#include "devlink/experimental/link_passes.h"

namespace devlink::internal {

namespace {

// --- What most options do: set a member of something ---------------------------------------------

template <typename T>
T& Of(Parsed& parsed, T Parsed::* member) {
  return parsed.*member;
}
template <typename T>
T& Of(Parsed& parsed, T NvlinkCommand::* member) {
  return parsed.command.*member;
}
template <typename T>
T& Of(Parsed& parsed, T LibraryQuery::* member) {
  return parsed.command.libraries.*member;
}
template <typename T>
T& Of(Parsed& parsed, T LinkOptions::* member) {
  return parsed.command.options.*member;
}
template <typename T>
T& Of(Parsed& parsed, T LtoOptions::* member) {
  return parsed.command.options.lto.*member;
}

template <typename T>
T& Of(Parsed& parsed, T PtxBackendOptions::* member) {
  return parsed.command.toolchain.ptx.*member;
}

template <auto kMember>
absl::Status Flag(const OptionValue& /*value*/, Parsed& parsed) {
  Of(parsed, kMember) = true;
  return absl::OkStatus();
}

template <auto kMember>
absl::Status Text(const OptionValue& value, Parsed& parsed) {
  Of(parsed, kMember) = value.text;
  return absl::OkStatus();
}

template <auto kMember>
absl::Status Number(const OptionValue& value, Parsed& parsed) {
  Of(parsed, kMember) = value.number;
  return absl::OkStatus();
}

template <auto kMember>
absl::Status Items(const OptionValue& value, Parsed& parsed) {
  auto& out = Of(parsed, kMember);
  out.insert(out.end(), value.items.begin(), value.items.end());
  return absl::OkStatus();
}

template <auto kMember>
absl::Status AsWritten(const OptionValue& value, Parsed& parsed) {
  Of(parsed, kMember).push_back(value.text);
  return absl::OkStatus();
}

// --- Values with a meaning of their own ----------------------------------------------------------

absl::Status ReadFolding(const OptionValue& value, Parsed& parsed) {
  if (value.text != "safe" && value.text != "none") {
    return absl::InvalidArgumentError(
        base::ToAbsl(base::Cat({"Value '", value.text, "' is not defined for option 'icf'"})));
  }
  parsed.command.options.fold_identical_functions = value.text == "safe";
  return absl::OkStatus();
}

absl::Status ReadAliases(const OptionValue& value, Parsed& parsed) {
  for (const std::string& item : value.items) {
    const std::size_t equals = item.find('=');
    const bool is_name = equals != std::string::npos && equals + 1 < item.size() &&
                         item.find_first_of("=+-", equals + 1) == std::string::npos &&
                         !absl::ascii_isdigit(static_cast<unsigned char>(item[equals + 1]));
    if (!is_name || equals == 0) {
      return absl::InvalidArgumentError(base::ToAbsl(
          base::Cat({"Value '", item, "' of option 'defsym' is not of the form NAME=SYMBOL"})));
    }
    parsed.command.options.symbol_aliases.push_back(
        {item.substr(0, equals), item.substr(equals + 1)});
  }
  return absl::OkStatus();
}

absl::Status NotDefined(const OptionValue& value, std::string_view option) {
  return absl::InvalidArgumentError(
      base::Cat({"Value '", value.text, "' is not defined for option '", option, "'"}));
}

template <typename T>
absl::Status Choose(const OptionValue& value, std::string_view option,
                    std::initializer_list<std::pair<std::string_view, T>> choices, T& out) {
  for (const auto& [name, choice] : choices) {
    if (name != value.text) continue;
    out = choice;
    return absl::OkStatus();
  }
  return NotDefined(value, option);
}

// With a virtual architecture inputs are only checked.
absl::Status ReadArch(const OptionValue& value, Parsed& parsed) {
  LinkOptions& options = parsed.command.options;
  auto virtual_target = Arch::ParseVirtual(value.text);
  const auto lto_target = Arch::ParseLto(value.text);
  if (lto_target.ok()) virtual_target = lto_target;
  const auto target = virtual_target.ok() ? virtual_target : Arch::Parse(value.text);
  if (!target.ok()) return NotDefined(value, "arch");
  options.check_only = virtual_target.ok();
  parsed.lto_target = lto_target.ok() ? value.text : "";
  options.target = *target;
  parsed.arch = value.text;
  return absl::OkStatus();
}

absl::Status CheckMachine(const OptionValue& value, Parsed& /*parsed*/) {
  constexpr int kOnlyOne = 64;
  return value.number == kOnlyOne ? absl::OkStatus() : NotDefined(value, "machine");
}

absl::Status ReadCpuArch(const OptionValue& value, Parsed& parsed) {
  const auto cpu = ParseCpuArch(value.text);
  if (!cpu) return NotDefined(value, "cpu-arch");
  parsed.command.libraries.arch = *cpu;
  return absl::OkStatus();
}

absl::Status ReadBool(const OptionValue& value, bool& out) {
  if (value.text != "true" && value.text != "false") {
    return absl::InvalidArgumentError(base::Cat({"'", value.text, "': expected true or false"}));
  }
  out = value.text == "true";
  return absl::OkStatus();
}

absl::Status ReadBool(const OptionValue& value, std::optional<bool>& out) {
  return ReadBool(value, out.emplace());
}

template <auto kMember>
absl::Status Bool(const OptionValue& value, Parsed& parsed) {
  return ReadBool(value, Of(parsed, kMember));
}

// A value that is checked and means nothing.
absl::Status CheckBool(const OptionValue& value, Parsed& /*parsed*/) {
  bool ignored = false;
  return ReadBool(value, ignored);
}

absl::Status ReadToolkit(const OptionValue& value, Parsed& parsed) {
  const auto profile = ToolkitProfile::ForRelease(value.text);
  if (!profile.ok()) return NotDefined(value, "toolkit");
  parsed.command.options.profile = *profile;
  parsed.command.toolkit_given = true;
  return absl::OkStatus();
}

absl::Status ReadCompatibility(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "compat", {{"nvlink", Compatibility::kNvlink}},
                parsed.command.options.compatibility);
}

absl::Status ReadMessageFormat(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "diagnostics-format",
                {{"text", MessageFormat::kText},
                 {"json", MessageFormat::kJson},
                 {"sarif", MessageFormat::kSarif}},
                parsed.command.message_format);
}

absl::Status ReadColor(const OptionValue& value, Parsed& parsed) {
  return Choose(
      value, "color",
      {{"auto", UseColor::kAutomatic}, {"always", UseColor::kAlways}, {"never", UseColor::kNever}},
      parsed.command.color);
}

absl::Status ReadErrorLimit(const OptionValue& value, Parsed& parsed) {
  if (value.number < 0) return NotDefined(value, "error-limit");
  parsed.command.error_limit = static_cast<std::uint32_t>(value.number);
  return absl::OkStatus();
}

absl::Status ReadPtxBackend(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "ptx-backend",
                {{"nvptxcompiler", PtxBackend::kNvPtxCompiler},
                 {"ptxas", PtxBackend::kPtxas},
                 {"nvjitlink", PtxBackend::kNvJitLink}},
                parsed.command.toolchain.ptx.backend);
}

absl::Status ReadLtoBackend(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "lto-backend",
                {{"nvvm", LtoBackend::kNvvm}, {"nvjitlink", LtoBackend::kNvJitLink}},
                parsed.command.toolchain.lto.backend);
}

// One library for all that it can do.
absl::Status ReadNvJitLink(const OptionValue& value, Parsed& parsed) {
  ToolchainOptions& tools = parsed.command.toolchain;
  tools.ptx.nvjitlink_path = tools.lto.nvjitlink_path = tools.finalizer.nvjitlink_path = value.text;
  return absl::OkStatus();
}

absl::Status ReadFinalizerBackend(const OptionValue& value, Parsed& parsed) {
  return Choose(
      value, "finalizer-backend",
      {{"nvlink", FinalizerBackend::kNvlink}, {"nvjitlink", FinalizerBackend::kNvJitLink}},
      parsed.command.toolchain.finalizer.backend);
}

absl::Status ReadNvlink(const OptionValue& value, Parsed& parsed) {
  parsed.command.toolchain.finalizer.nvlink_path = value.text;
  return absl::OkStatus();
}

absl::Status ReadFinalize(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "finalize",
                {{"auto", FinalizeMode::kAutomatic},
                 {"never", FinalizeMode::kNever},
                 {"always", FinalizeMode::kAlways}},
                parsed.command.options.finalize);
}

absl::Status ReadHostLinkerScript(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "gen-host-linker-script",
                {{"lcs-abs", HostLinkerScript::kWhole}, {"lcs-aug", HostLinkerScript::kAugmenting}},
                parsed.command.host_linker_script);
}

absl::Status ReadHelpForm(const OptionValue& value, Parsed& parsed) {
  parsed.command.help = true;
  return Choose(value, "help-as",
                {{"markdown", HelpForm::kMarkdown},
                 {"man", HelpForm::kMan},
                 {"bash", HelpForm::kBash},
                 {"zsh", HelpForm::kZsh},
                 {"fish", HelpForm::kFish}},
                parsed.command.help_form);
}

absl::Status ReadTimeout(const OptionValue& value, Parsed& parsed) {
  if (value.number < 0) return NotDefined(value, "ptxas-timeout");
  ToolchainOptions& tools = parsed.command.toolchain;
  tools.ptx.timeout = tools.finalizer.timeout = std::chrono::seconds(value.number);
  return absl::OkStatus();
}

absl::Status ReadPasses(const OptionValue& value, Parsed& parsed) {
  for (const std::string& name : value.items) {
    const auto pass = FindPass(name);
    if (!pass) return NotDefined({.text = name, .items = {}}, "print-after");
    parsed.command.print_after.push_back(*pass);
  }
  return absl::OkStatus();
}

constexpr std::array kOptions = {
    Option{"suppress-stack-size-warning", "suppress-stack-size-warning", Takes::kNothing, "",
           Recorded::kYes, Group::kMessages, Flag<&LinkOptions::suppress_stack_size_warning>,
           "do not warn where an entry's stack cannot be determined"},
    Option{"suppress-arch-warning", "suppress-arch-warning", Takes::kNothing, "", Recorded::kYes,
           Group::kMessages, Flag<&LinkOptions::suppress_arch_warning>,
           "do not warn where an input has no code for the target"},
    Option{"o", "output-file", Takes::kValue, "file", Recorded::kFileNameForDebugger,
           Group::kCommon, Text<&Parsed::output>, "where to write the linked cubin", "",
           Concern::kThisLink},
    Option{"g", "debug", Takes::kNothing, "", Recorded::kYes, Group::kCommon,
           Flag<&LinkOptions::debug>, "link for the debugger: nothing is left out"},
    Option{"arch", "arch", Takes::kValue, "sm_NN", Recorded::kYes, Group::kCommon, ReadArch,
           "the target: sm_75 to sm_121f; compute_NN only checks inputs"},
    Option{"m", "machine", Takes::kNumber, "64", Recorded::kYes, Group::kAccepted, CheckMachine,
           "bits of the machine; 64 is the only choice"},
    Option{"l", "library", Takes::kList, "name,...", Recorded::kYes, Group::kCommon,
           Items<&LibraryQuery::names>, "link libNAME.a, behind all files", "", Concern::kThisLink},
    Option{"L", "library-path", Takes::kList, "folder,...", Recorded::kYes, Group::kCommon,
           Items<&LibraryQuery::directories>, "where to look for libraries, before LIBRARY_PATH",
           "", Concern::kThisLink},
    Option{"", "register-link-binaries", Takes::kValue, "file", Recorded::kFileNameForDebugger,
           Group::kInputs, Text<&NvlinkCommand::register_file>,
           "write the ids of linked modules to a file, for the host's link", "", Concern::kCommand},
    Option{"v", "verbose", Takes::kNothing, "", Recorded::kYes, Group::kCommon,
           Flag<&LinkOptions::verbose>, "print what every kernel uses"},
    Option{"preserve-relocs", "preserve-relocs", Takes::kNothing, "", Recorded::kYes,
           Group::kProgram, Flag<&LinkOptions::preserve_relocations>,
           "list the relocations that are resolved, and keep all code"},
    Option{"w", "disable-warnings", Takes::kNothing, "", Recorded::kYes, Group::kAccepted, nullptr,
           "accepted; as with nvlink, no effect"},
    Option{"Werror", "warning-as-error", Takes::kNothing, "", Recorded::kYes, Group::kMessages,
           Flag<&LinkOptions::warnings_are_errors>, "turn warnings into errors"},
    Option{"disable-infos", "disable-infos", Takes::kNothing, "", Recorded::kYes, Group::kMessages,
           Flag<&LinkOptions::suppress_warnings>,
           "print no warnings (as with nvlink, in spite of the name)"},
    Option{"keep-system-libraries", "keep-system-libraries", Takes::kNothing, "", Recorded::kYes,
           Group::kInputs, Flag<&LinkOptions::keep_system_libraries>,
           "link libcudadevrt even if nothing needs it"},
    Option{"kernels-used", "kernels-used", Takes::kList, "text,...", Recorded::kYes,
           Group::kProgram, Items<&LinkOptions::kernels_used>,
           "keep only kernels with one of these texts in their mangled names"},
    Option{"variables-used", "variables-used", Takes::kList, "text,...", Recorded::kYes,
           Group::kProgram, Items<&LinkOptions::variables_used>,
           "as nvlink: given alone, leaves out every kernel"},
    Option{"cpu-arch", "cpu-arch", Takes::kValue, "name", Recorded::kYes, Group::kInputs,
           ReadCpuArch,
           "the host that -l libraries must be for: X86, X86_64 (default), ARMv7, AARCH64, PPC64LE "
           "or unknown",
           "", Concern::kThisLink},
    Option{"report-arch", "report-arch", Takes::kNothing, "", Recorded::kYes, Group::kMessages,
           Flag<&LinkOptions::report_arch>, "name the target in every message"},
    Option{"emit-ptx", "emit-ptx", Takes::kNothing, "", Recorded::kYes, Group::kLto,
           Flag<&LtoOptions::emit_ptx>, "with -lto: write the PTX and do not assemble it"},
    Option{"time", "time", Takes::kValue, "file", Recorded::kFileNameForDebugger, Group::kReports,
           Text<&NvlinkCommand::time_table>,
           "append a row of comma separated values for each run of a compiler; '-' is stdout", "",
           Concern::kCommand},
    Option{"extrawarn", "extra-warnings", Takes::kNothing, "", Recorded::kYes, Group::kAccepted,
           nullptr, "accepted, no effect"},
    Option{"lto", "link-time-opt", Takes::kNothing, "", Recorded::kYes, Group::kCommon,
           Flag<&LtoOptions::enabled>, "optimize LTO IR at link time"},
    Option{"dlto", "dlto", Takes::kNothing, "", Recorded::kYes, Group::kCommon,
           Flag<&LtoOptions::enabled>, "the same as -lto"},
    Option{"nvvmpath", "nvvmpath", Takes::kValue, "folder", Recorded::kYes, Group::kLto,
           Text<&Parsed::nvvm_path>,
           "the folder above lib64/libnvvm.so (default: DEVLINK_NVVM, or that of the toolkit of "
           "ptxas)",
           "", Concern::kTools},
    Option{"split-compile", "split-compile", Takes::kNumber, "number", Recorded::kYes, Group::kLto,
           Number<&LinkOptions::split_compile>,
           "threads within one compilation; 0: as many as there are (default: 1)"},
    Option{"split-compile-extended", "split-compile-extended", Takes::kNumber, "number",
           Recorded::kYes, Group::kLto, Number<&LtoOptions::split_compile_extended>,
           "with -lto: compile in so many pieces at a time (default: 1)"},
    Option{"Ofc", "Ofast-compile", Takes::kOptionalValue, "level", Recorded::kYes, Group::kLto,
           Text<&Parsed::fast_compile>, "with -lto: 0, min, mid or max; less optimization, faster",
           "0"},
    Option{"suppress-debug-info", "suppress-debug-info", Takes::kNothing, "", Recorded::kYes,
           Group::kLto, Flag<&LinkOptions::suppress_debug_info>,
           "with -g: assemble PTX without it"},
    Option{"Xptxas", "Xptxas", Takes::kList, "options", Recorded::kYes, Group::kLto,
           AsWritten<&LinkOptions::xptxas>, "options for ptxas"},
    Option{"Xnvvm", "Xnvvm", Takes::kList, "options", Recorded::kYes, Group::kLto,
           AsWritten<&LtoOptions::xnvvm>, "options for libNVVM"},
    Option{"maxrregcount", "maxrregcount", Takes::kNumber, "number", Recorded::kYes, Group::kLto,
           Number<&LinkOptions::max_registers>, "registers per thread for PTX and LTO IR"},
    Option{"dump-callgraph", "dump-callgraph", Takes::kNothing, "", Recorded::kYes, Group::kReports,
           Flag<&Parsed::dump_callgraph>, "print who calls whom, with registers", "",
           Concern::kThisLink},
    Option{"dump-callgraph-no-demangle", "dump-callgraph-no-demangle", Takes::kNothing, "",
           Recorded::kYes, Group::kReports, Flag<&Parsed::dump_mangled>,
           "the same; as with nvlink, names are demangled all the same", "", Concern::kThisLink},
    Option{"use-host-info", "use-host-info", Takes::kNothing, "", Recorded::kYes, Group::kProgram,
           Flag<&Parsed::uses_host_info>,
           "leave out kernels that no host code refers to (default)"},
    Option{"ignore-host-info", "ignore-host-info", Takes::kNothing, "", Recorded::kYes,
           Group::kProgram, Flag<&Parsed::ignores_host_info>, "keep all kernels"},
    Option{"r", "relocatable-link", Takes::kNothing, "", Recorded::kYes, Group::kCommon,
           Flag<&LinkOptions::relocatable>, "write a relocatable cubin, to be linked again"},
    Option{"device-stack-protector", "device-stack-protector", Takes::kValue, "bool",
           Recorded::kYes, Group::kLto, Bool<&LinkOptions::stack_protector>,
           "true or false: whether PTX is assembled with stack protectors"},
    Option{"optf", "options-file", Takes::kFiles, "file,...", Recorded::kEmptyForDebugger,
           Group::kInputs, nullptr, "read options and inputs from files", "", Concern::kThisLink},

    // What nvlink does not record, and mostly does not list in its help.
    Option{"force-partial-lto", "force-partial-lto", Takes::kNothing, "", Recorded::kNo,
           Group::kLto, Flag<&LtoOptions::force_partial>,
           "with -lto: the result is not the whole program"},
    Option{"force-whole-lto", "force-whole-lto", Takes::kNothing, "", Recorded::kNo, Group::kLto,
           Flag<&LtoOptions::force_whole>, "with -lto: the result is the whole program"},
    Option{"force-rela", "force-rela", Takes::kNothing, "", Recorded::kNo, Group::kProgram,
           Flag<&LinkOptions::force_rela>, "write all relocations with addends"},
    Option{"allow-undefined-globals", "allow-undefined-globals", Takes::kNothing, "", Recorded::kNo,
           Group::kProgram, Flag<&LinkOptions::allow_undefined_globals>,
           "variables of global memory that no input defines are not an error"},
    Option{"reserve-null-pointer", "reserve-null-pointer", Takes::kNothing, "", Recorded::kNo,
           Group::kProgram, Flag<&LinkOptions::reserve_null_pointer>,
           "give no variable of shared memory the address 0"},
    Option{"dont-reserve-null-pointer", "dont-reserve-null-pointer", Takes::kNothing, "",
           Recorded::kNo, Group::kAccepted, nullptr, "accepted; as with nvlink, no effect"},
    Option{
        "disable-smem-reservation", "disable-smem-reservation", Takes::kValue, "bool",
        Recorded::kNo, Group::kProgram, Bool<&LinkOptions::disable_shared_reservation>,
        "true: kernels for sm_90 and later do not count the shared memory that the system keeps"},
    Option{"enable-extended-smem", "enable-extended-smem", Takes::kValue, "bool", Recorded::kNo,
           Group::kAccepted, CheckBool, "accepted; as with nvlink, no effect"},
    Option{"nv-host", "nv-host", Takes::kValue, "file", Recorded::kNo, Group::kProgram,
           Text<&NvlinkCommand::host_file>, "put the bytes of a file into section .nv.host", "",
           Concern::kThisLink},
    Option{"uidx", "uidx-file", Takes::kValue, "file", Recorded::kNo, Group::kAccepted,
           Text<&NvlinkCommand::index_file>, "read as nvlink does, which no known file passes", "",
           Concern::kCommand},
    Option{"dot", "dot-file", Takes::kValue, "file", Recorded::kNo, Group::kReports,
           Text<&NvlinkCommand::dot_file>, "write who calls whom to a file, for Graphviz", "",
           Concern::kCommand},
    Option{"tool-name", "tool-name", Takes::kValue, "name", Recorded::kNo, Group::kMessages,
           Text<&NvlinkCommand::tool_name>,
           "the name of the program in messages and in the output"},
    Option{"verbose-tkinfo", "verbose-tkinfo", Takes::kValue, "bool", Recorded::kNo,
           Group::kProgram, Bool<&Parsed::verbose_record>,
           "true: the output names its inputs, as with -g"},
    Option{"cuda-api-version", "cuda-api-version", Takes::kValue, "major.minor", Recorded::kNo,
           Group::kAccepted, Text<&Parsed::api_version>,
           "checked: the major number is that of the release"},
    Option{"syscall-const-offset", "syscall-const-offset", Takes::kNumber, "number", Recorded::kNo,
           Group::kAccepted, nullptr, "accepted; as with nvlink, no effect"},
    Option{"device-stack-protector-frame-size-threshold",
           "device-stack-protector-frame-size-threshold", Takes::kNumber, "number", Recorded::kNo,
           Group::kAccepted, nullptr, "accepted; as with nvlink, no effect"},
    Option{"uumn", "uumn", Takes::kNothing, "", Recorded::kNo, Group::kAccepted, nullptr,
           "accepted; as with nvlink, no effect"},
    Option{
        "ghls", "gen-host-linker-script", Takes::kOptionalValue, "form", Recorded::kNo,
        Group::kTools, ReadHostLinkerScript,
        "link nothing; write a script for the host's linker that puts device code behind all else: "
        "whole (lcs-abs, the default) or to add to another (lcs-aug)",
        "lcs-abs", Concern::kCommand},
    Option{"host-ccbin", "host-ccbin", Takes::kValue, "program", Recorded::kNo, Group::kTools,
           Text<&NvlinkCommand::host_compiler>,
           "with -ghls: the host's compiler, whose linker the script is for (default: gcc)"},
    Option{"Xlinker", "host-linker-options", Takes::kList, "options", Recorded::kNo,
           Group::kAccepted, nullptr, "accepted, no effect"},
    Option{"shared", "shared", Takes::kNothing, "", Recorded::kNo, Group::kTools,
           Flag<&NvlinkCommand::host_shared>, "with -ghls: the script is for shared libraries"},
    Option{"V", "version", Takes::kNothing, "", Recorded::kNo, Group::kCommon,
           Flag<&NvlinkCommand::version>, "print the version", "", Concern::kCommand},
    Option{"h", "help", Takes::kNothing, "", Recorded::kNo, Group::kCommon,
           Flag<&NvlinkCommand::help>, "print this text", "", Concern::kCommand},

    // devlink's own.
    Option{"error-limit", "error-limit", Takes::kNumber, "number", Recorded::kNo, Group::kMessages,
           ReadErrorLimit, "how many errors are printed; 0, the default: all", "",
           Concern::kCommand},
    Option{"diagnostics-format", "diagnostics-format", Takes::kValue, "form", Recorded::kNo,
           Group::kMessages, ReadMessageFormat,
           "text (default), json (an object on each line) or sarif (a document at the end)", "",
           Concern::kCommand},
    Option{"color", "color", Takes::kValue, "when", Recorded::kNo, Group::kMessages, ReadColor,
           "auto (default: on a terminal), always or never", "", Concern::kCommand},
    Option{"help-as", "help-as", Takes::kValue, "form", Recorded::kNo, Group::kTools, ReadHelpForm,
           "print this text as markdown or man, or what bash, zsh or fish need to complete options",
           "", Concern::kCommand},
    Option{"report", "report", Takes::kValue, "file", Recorded::kNo, Group::kOwnReports,
           Text<&NvlinkCommand::report>,
           "write a report of the link: a page for a name that ends in .html, else JSON", "",
           Concern::kCommand},
    Option{"map", "map", Takes::kValue, "file", Recorded::kNo, Group::kOwnReports,
           Text<&NvlinkCommand::map>,
           "write inputs, sections, kernels, functions and variables to a file", "",
           Concern::kCommand},
    Option{"why-live", "why-live", Takes::kEach, "symbol", Recorded::kNo, Group::kOwnReports,
           AsWritten<&NvlinkCommand::why_live>,
           "print the way from a kernel to a function; may be given again, as the next two", "",
           Concern::kCommand},
    Option{"why-input", "why-input", Takes::kEach, "file", Recorded::kNo, Group::kOwnReports,
           AsWritten<&NvlinkCommand::why_input>, "print what comes of an input, and who needs it",
           "", Concern::kCommand},
    Option{"why-registers", "why-registers", Takes::kEach, "kernel", Recorded::kNo,
           Group::kOwnReports, AsWritten<&NvlinkCommand::why_registers>,
           "print which callee sets a kernel's registers, stack and barriers", "",
           Concern::kCommand},
    Option{"size", "size", Takes::kNothing, "", Recorded::kNo, Group::kOwnReports,
           Flag<&NvlinkCommand::size_table>,
           "print bytes by kind, input, function and template, and what copies cost", "",
           Concern::kCommand},
    Option{"dependency-file", "dependency-file", Takes::kValue, "file", Recorded::kNo,
           Group::kOwnReports, Text<&NvlinkCommand::dependency_file>,
           "write a rule for make and ninja with all files that were read", "", Concern::kCommand},
    Option{"reproduce", "reproduce", Takes::kValue, "file", Recorded::kNo, Group::kOwnReports,
           Text<&NvlinkCommand::reproduce>,
           "write a tar archive with all inputs and a script that links them again", "",
           Concern::kCommand},
    Option{"wrap", "wrap", Takes::kList, "symbol,...", Recorded::kNo, Group::kSymbols,
           Items<&LinkOptions::wrapped_symbols>,
           "take references to SYMBOL for __wrap_SYMBOL, and to __real_SYMBOL for SYMBOL"},
    Option{"defsym", "defsym", Takes::kList, "name=symbol,...", Recorded::kNo, Group::kSymbols,
           ReadAliases, "take references to NAME, which no input defines, for SYMBOL"},
    Option{"undefined", "undefined", Takes::kList, "symbol,...", Recorded::kNo, Group::kSymbols,
           Items<&LinkOptions::kept_functions>, "keep functions that nobody calls"},
    Option{"icf", "icf", Takes::kValue, "how", Recorded::kNo, Group::kSymbols, ReadFolding,
           "safe: of functions that are the same and whose address nobody takes, keep one; none "
           "(default)"},
    Option{"retain-symbols-file", "retain-symbols-file", Takes::kValue, "file", Recorded::kNo,
           Group::kSymbols, Text<&NvlinkCommand::retained_symbols_file>,
           "of variables, list only those named in a file, and those that relocations name", "",
           Concern::kThisLink},
    Option{"lto-partitions", "lto-partitions", Takes::kNumber, "number", Recorded::kNo, Group::kLto,
           Number<&LtoOptions::partitions>,
           "with -lto, not nvlink's: compile the modules in at most so many parts at a time, and "
           "link these (default: 1)"},
    Option{"keep-dir", "keep-dir", Takes::kValue, "folder", Recorded::kNo, Group::kOwnReports,
           Text<&NvlinkCommand::keep_dir>,
           "write what the link has on its way to the output, and a script that repeats each step",
           "", Concern::kCommand},
    Option{
        "toolkit", "toolkit", Takes::kValue, "release", Recorded::kNo, Group::kCompatibility,
        ReadToolkit,
        "write what nvlink of this CUDA release writes: 13.0 to 13.5 (default: that of the toolkit "
        "on PATH, 13.0 without one)"},
    Option{"accept-newer", "accept-newer", Takes::kNothing, "", Recorded::kNo,
           Group::kCompatibility, Flag<&LinkOptions::accept_newer_inputs>,
           "link inputs of a later CUDA release than --toolkit's instead of refusing them"},
    Option{"compat", "compat", Takes::kValue, "nvlink", Recorded::kNo, Group::kCompatibility,
           ReadCompatibility,
           "as nvlink, faults included, where docs/compatibility.md says so; no notes"},
    Option{"keep-references", "keep-references", Takes::kNothing, "", Recorded::kNo,
           Group::kCompatibility, Flag<&LinkOptions::keep_references>,
           "with -r and --compat nvlink: leave references to the next link all the same"},
    Option{"ptx-backend", "ptx-backend", Takes::kValue, "name", Recorded::kNo, Group::kTools,
           ReadPtxBackend,
           "what assembles PTX: nvptxcompiler, ptxas or nvjitlink (default: the first that is "
           "there, and ptxas for long texts and -g)",
           "", Concern::kTools},
    Option{"ptxas-path", "ptxas-path", Takes::kValue, "file", Recorded::kNo, Group::kTools,
           Text<&PtxBackendOptions::ptxas_path>,
           "the program ptxas (default: DEVLINK_PTXAS, or the first in PATH)", "", Concern::kTools},
    Option{"nvptxcompiler-path", "nvptxcompiler-path", Takes::kValue, "file", Recorded::kNo,
           Group::kTools, Text<&PtxBackendOptions::nvptxcompiler_path>,
           "libdevlink_ptxcompiler.so (default: DEVLINK_NVPTXCOMPILER, or that of devlink)", "",
           Concern::kTools},
    Option{"nvjitlink-path", "nvjitlink-path", Takes::kValue, "file", Recorded::kNo, Group::kTools,
           ReadNvJitLink,
           "libnvJitLink.so.13 (default: DEVLINK_NVJITLINK, or that of the toolkit of ptxas)", "",
           Concern::kTools},
    Option{
        "nvlink-path", "nvlink-path", Takes::kValue, "file", Recorded::kNo, Group::kTools,
        ReadNvlink,
        "NVIDIA's nvlink, which finalizes code for sm_100 and later (default: DEVLINK_NVLINK, or "
        "that of the toolkit of ptxas)",
        "", Concern::kTools},
    Option{"ptxas-timeout", "ptxas-timeout", Takes::kNumber, "seconds", Recorded::kNo,
           Group::kTools, ReadTimeout,
           "how long one run of ptxas or of the finalizer may take; 0, the default: any time, the "
           "finalizer 10 and 20 for each MiB",
           "", Concern::kTools},
    Option{"lto-backend", "lto-backend", Takes::kValue, "name", Recorded::kNo, Group::kTools,
           ReadLtoBackend, "what compiles LTO IR: nvvm or nvjitlink", "", Concern::kTools},
    Option{
        "finalize", "finalize", Takes::kValue, "when", Recorded::kNo, Group::kTools, ReadFinalize,
        "whether code for sm_100 and later goes through NVIDIA's finalizer: auto (default), never "
        "or always"},
    Option{"finalizer-backend", "finalizer-backend", Takes::kValue, "name", Recorded::kNo,
           Group::kTools, ReadFinalizerBackend,
           "what does so: nvlink or nvjitlink (default: nvlink where it is there, in less time)",
           "", Concern::kTools},
    Option{"finalizer-parts", "finalizer-parts", Takes::kNumber, "number", Recorded::kNo,
           Group::kTools, Number<&LinkOptions::finalizer_parts>,
           "in how many parts it does so, at a time; 0, the default: by the size of the code"},
    Option{"cache", "cache", Takes::kValue, "folder", Recorded::kNo, Group::kTools,
           Text<&NvlinkCommand::cache>, "a folder that keeps what compilers made, for later links",
           "", Concern::kCommand},
    Option{
        "remote-cache", "remote-cache", Takes::kValue, "address", Recorded::kNo, Group::kTools,
        Text<&NvlinkCommand::remote_cache>,
        "a server that keeps the same for many machines: http://HOST/PATH, redis://HOST or their "
        "like (docs/cache.md); behind the folder of --cache where there is one",
        "", Concern::kCommand},
    Option{"print-after", "print-after", Takes::kList, "pass,...", Recorded::kNo,
           Group::kOwnReports, ReadPasses,
           "print what a pass of the link found: merge, call-graph, ... (docs/debugging.md)", "",
           Concern::kCommand},
    Option{"time-trace", "time-trace", Takes::kValue, "file", Recorded::kNo, Group::kOwnReports,
           Text<&NvlinkCommand::time_trace>,
           "write where the time went to a file, for Chrome's about:tracing", "",
           Concern::kCommand},
    Option{"log", "log", Takes::kNothing, "", Recorded::kNo, Group::kOwnReports,
           Flag<&NvlinkCommand::log>, "tell on stderr what the linker does", "", Concern::kCommand},
};

}  // namespace

std::span<const Option> Options() { return kOptions; }

const Option* FindOption(std::string_view name, bool is_long) {
  if (name.empty()) return nullptr;  // what our own options have for a short name
  const auto* found =
      std::ranges::find(kOptions, name, is_long ? &Option::long_name : &Option::short_name);
  return found == kOptions.end() ? nullptr : found;
}

}  // namespace devlink::internal
