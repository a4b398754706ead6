// SPDX-License-Identifier: Apache-2.0
#include "command/option_table.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
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
  DEVLINK_ASSIGN_OR_RETURN(Of(parsed, kMember), ReadNumber(value.text));
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
  parsed.has_arch = true;
  return absl::OkStatus();
}

absl::Status CheckMachine(const OptionValue& value, Parsed& /*parsed*/) {
  return value.text == "64" ? absl::OkStatus() : NotDefined(value, "machine");
}

absl::Status ReadCpuArch(const OptionValue& value, Parsed& parsed) {
  const auto cpu = ParseCpuArch(value.text);
  if (!cpu) return NotDefined(value, "cpu-arch");
  parsed.command.libraries.arch = *cpu;
  return absl::OkStatus();
}

absl::Status ReadStackProtector(const OptionValue& value, Parsed& parsed) {
  if (value.text != "true" && value.text != "false") {
    return absl::InvalidArgumentError(base::Cat({"'", value.text, "': expected true or false"}));
  }
  parsed.command.options.stack_protector = value.text == "true";
  return absl::OkStatus();
}

absl::Status ReadToolkit(const OptionValue& value, Parsed& parsed) {
  const auto profile = ToolkitProfile::ForRelease(value.text);
  if (!profile.ok()) return NotDefined(value, "toolkit");
  parsed.command.options.profile = *profile;
  return absl::OkStatus();
}

absl::Status ReadCompatibility(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "compat", {{"nvlink", Compatibility::kNvlink}},
                parsed.command.options.compatibility);
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

absl::Status ReadFinalize(const OptionValue& value, Parsed& parsed) {
  return Choose(value, "finalize",
                {{"auto", FinalizeMode::kAutomatic},
                 {"never", FinalizeMode::kNever},
                 {"always", FinalizeMode::kAlways}},
                parsed.command.options.finalize);
}

absl::Status ReadTimeout(const OptionValue& value, Parsed& parsed) {
  DEVLINK_ASSIGN_OR_RETURN(const int seconds, ReadNumber(value.text));
  if (seconds < 0) return NotDefined(value, "ptxas-timeout");
  parsed.command.toolchain.ptx.timeout = std::chrono::seconds(seconds);
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
    Option{"suppress-stack-size-warning", "suppress-stack-size-warning", Takes::kNothing,
           Recorded::kYes, Flag<&LinkOptions::suppress_stack_size_warning>,
           "do not warn where an entry's stack cannot be determined"},
    Option{"suppress-arch-warning", "suppress-arch-warning", Takes::kNothing, Recorded::kYes,
           Flag<&LinkOptions::suppress_arch_warning>,
           "do not warn where an input has no code for the target"},
    Option{"o", "output-file", Takes::kValue, Recorded::kFileNameForDebugger, Text<&Parsed::output>,
           "where to write the linked cubin"},
    Option{"g", "debug", Takes::kNothing, Recorded::kYes, Flag<&LinkOptions::debug>,
           "link for the debugger"},
    Option{"arch", "arch", Takes::kValue, Recorded::kYes, ReadArch,
           "the target: sm_75 to sm_121f; compute_NN only checks inputs"},
    Option{"r", "relocatable-link", Takes::kNothing, Recorded::kYes,
           Flag<&LinkOptions::relocatable>, "write a relocatable cubin, to be linked again"},
    Option{"m", "machine", Takes::kValue, Recorded::kYes, CheckMachine, "64, the only choice"},
    Option{"l", "library", Takes::kList, Recorded::kYes, Items<&LibraryQuery::names>,
           "link libNAME.a, behind all files"},
    Option{"L", "library-path", Takes::kList, Recorded::kYes, Items<&LibraryQuery::directories>,
           "where to look for libraries, before LIBRARY_PATH"},
    Option{"v", "verbose", Takes::kNothing, Recorded::kYes, Flag<&LinkOptions::verbose>,
           "print resource usage"},
    Option{"w", "disable-warnings", Takes::kNothing, Recorded::kYes, nullptr,
           "accepted; as with nvlink, no effect"},
    Option{"Werror", "warning-as-error", Takes::kNothing, Recorded::kYes,
           Flag<&LinkOptions::warnings_are_errors>, "turn warnings into errors"},
    Option{"disable-infos", "disable-infos", Takes::kNothing, Recorded::kYes,
           Flag<&LinkOptions::suppress_warnings>,
           "print no warnings (as with nvlink, in spite of the name)"},
    Option{"keep-system-libraries", "keep-system-libraries", Takes::kNothing, Recorded::kYes,
           Flag<&LinkOptions::keep_system_libraries>, "link libcudadevrt even if nothing needs it"},
    Option{"kernels-used", "kernels-used", Takes::kList, Recorded::kYes,
           Items<&LinkOptions::kernels_used>,
           "keep only kernels with one of these texts in their names"},
    Option{"variables-used", "variables-used", Takes::kList, Recorded::kYes,
           Items<&LinkOptions::variables_used>, "as nvlink: given alone, leaves out every kernel"},
    Option{"cpu-arch", "cpu-arch", Takes::kValue, Recorded::kYes, ReadCpuArch,
           "the host that -l libraries must be for: X86_64 (default), AARCH64..."},
    Option{"report-arch", "report-arch", Takes::kNothing, Recorded::kYes,
           Flag<&LinkOptions::report_arch>, "name the target in every message"},
    Option{"emit-ptx", "emit-ptx", Takes::kNothing, Recorded::kYes, Flag<&LtoOptions::emit_ptx>,
           "with -lto: write the PTX and do not assemble it"},
    Option{"extrawarn", "extra-warnings", Takes::kNothing, Recorded::kYes, nullptr,
           "accepted, no effect"},
    Option{"lto", "link-time-opt", Takes::kNothing, Recorded::kYes, Flag<&LtoOptions::enabled>,
           "optimize LTO IR at link time"},
    Option{"dlto", "dlto", Takes::kNothing, Recorded::kYes, Flag<&LtoOptions::enabled>, "the same"},
    Option{"nvvmpath", "nvvmpath", Takes::kValue, Recorded::kYes, Text<&Parsed::nvvm_path>,
           "the folder above lib64/libnvvm.so"},
    Option{"split-compile", "split-compile", Takes::kValue, Recorded::kYes,
           Number<&LinkOptions::split_compile>, "threads within one assembly of PTX"},
    Option{"split-compile-extended", "split-compile-extended", Takes::kValue, Recorded::kYes,
           Number<&LtoOptions::split_compile_extended>, "with -lto: threads, in pieces"},
    Option{"Ofc", "Ofast-compile", Takes::kValue, Recorded::kYes, Text<&Parsed::fast_compile>,
           "with -lto: 0, min, mid or max; less optimization, faster"},
    Option{"Xptxas", "Xptxas", Takes::kList, Recorded::kYes, AsWritten<&LinkOptions::xptxas>,
           "options for ptxas"},
    Option{"Xnvvm", "Xnvvm", Takes::kList, Recorded::kYes, AsWritten<&LtoOptions::xnvvm>,
           "options for libNVVM"},
    Option{"maxrregcount", "maxrregcount", Takes::kValue, Recorded::kYes,
           Number<&LinkOptions::max_registers>, "registers per thread for PTX"},
    Option{"suppress-debug-info", "suppress-debug-info", Takes::kNothing, Recorded::kYes,
           Flag<&LinkOptions::suppress_debug_info>, "with -g: assemble PTX without it"},
    Option{"use-host-info", "use-host-info", Takes::kNothing, Recorded::kYes,
           Flag<&Parsed::uses_host_info>,
           "leave out kernels that no host code refers to (default)"},
    Option{"ignore-host-info", "ignore-host-info", Takes::kNothing, Recorded::kYes,
           Flag<&Parsed::ignores_host_info>, "keep all kernels"},
    Option{"device-stack-protector", "device-stack-protector", Takes::kValue, Recorded::kYes,
           ReadStackProtector, "true or false, for PTX"},
    Option{"force-partial-lto", "force-partial-lto", Takes::kNothing, Recorded::kNo,
           Flag<&LtoOptions::force_partial>, "with -lto: the result is not the whole program"},
    Option{"force-whole-lto", "force-whole-lto", Takes::kNothing, Recorded::kNo,
           Flag<&LtoOptions::force_whole>, "with -lto: the result is the whole program"},
    Option{"", "register-link-binaries", Takes::kValue, Recorded::kFileNameForDebugger,
           Text<&NvlinkCommand::register_file>, "write the ids of linked modules to a file"},
    Option{"host-ccbin", "host-ccbin", Takes::kValue, Recorded::kNo, nullptr,
           "accepted, no effect"},
    Option{"Xlinker", "host-linker-options", Takes::kList, Recorded::kNo, nullptr,
           "accepted, no effect"},
    Option{"shared", "shared", Takes::kNothing, Recorded::kNo, nullptr, "accepted, no effect"},
    Option{"optf", "options-file", Takes::kFiles, Recorded::kNo, nullptr,
           "read options and inputs from files"},
    Option{"V", "version", Takes::kNothing, Recorded::kNo, Flag<&NvlinkCommand::version>,
           "print the version"},
    Option{"h", "help", Takes::kNothing, Recorded::kNo, Flag<&NvlinkCommand::help>,
           "print this text"},
    Option{"report", "report", Takes::kValue, Recorded::kNo, Text<&NvlinkCommand::report>,
           "write a JSON report of the link to a file"},
    Option{"toolkit", "toolkit", Takes::kValue, Recorded::kNo, ReadToolkit,
           "write what nvlink of this CUDA release writes: 13.0 (default) to 13.5"},
    Option{"compat", "compat", Takes::kValue, Recorded::kNo, ReadCompatibility,
           "nvlink: as nvlink, faults included, where docs/compatibility.md says so"},
    Option{"keep-references", "keep-references", Takes::kNothing, Recorded::kNo,
           Flag<&LinkOptions::keep_references>,
           "with -r and --compat nvlink: leave references to the next link all the same"},
    Option{"ptx-backend", "ptx-backend", Takes::kValue, Recorded::kNo, ReadPtxBackend,
           "nvptxcompiler, ptxas or nvjitlink"},
    Option{"ptxas-timeout", "ptxas-timeout", Takes::kValue, Recorded::kNo, ReadTimeout,
           "seconds that one run of ptxas may take; 0, the default: any number"},
    Option{"lto-backend", "lto-backend", Takes::kValue, Recorded::kNo, ReadLtoBackend,
           "nvvm or nvjitlink"},
    Option{"finalize", "finalize", Takes::kValue, Recorded::kNo, ReadFinalize,
           "code for sm_100 and later: auto, never or always through libnvJitLink"},
    Option{"cache", "cache", Takes::kValue, Recorded::kNo, Text<&NvlinkCommand::cache>,
           "a folder that keeps what compilers made, for later links"},
    Option{"print-after", "print-after", Takes::kList, Recorded::kNo, ReadPasses,
           "print what a pass of the link found: merge, call-graph, ... (docs/debugging.md)"},
    Option{"time-trace", "time-trace", Takes::kValue, Recorded::kNo,
           Text<&NvlinkCommand::time_trace>,
           "write to a file where the time went, for Chrome's about:tracing"},
    Option{"log", "log", Takes::kNothing, Recorded::kNo, Flag<&NvlinkCommand::log>,
           "tell on stderr what the linker does"},
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
