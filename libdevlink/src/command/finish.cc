// SPDX-License-Identifier: Apache-2.0
#include "command/finish.h"

#include <cctype>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "command/words.h"
#include "devlink/experimental/cicc_option_builder.h"
#include "format/nvlink_text.h"
#include "format/sm_traits.h"
#include "plan/option_conflicts.h"
#include "plan/settings.h"

namespace devlink::internal {
namespace {

namespace nvlink_text = format::nvlink_text;

absl::Status Conflict(std::string_view one, std::string_view other) {
  return absl::InvalidArgumentError(nvlink_text::ConflictingOptions(one, other));
}

std::string NameOfTarget(const Parsed& parsed) {
  return !parsed.lto_target.empty() ? parsed.lto_target : TargetName(parsed.command.options);
}

// With -report-arch the target stands behind what nvlink says once all words are read.
std::string TargetSuffix(const Parsed& parsed) {
  if (!parsed.command.options.report_arch || parsed.arch.empty()) return {};
  return base::Cat({" (target: ", NameOfTarget(parsed), ")"});
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

void Say(Severity severity, std::string_view text, const Parsed& parsed,
         std::vector<CommandMessage>& messages) {
  CommandMessage& message = messages.emplace_back();
  message.tool = parsed.command.tool_name;
  message.diagnostic.severity = severity;
  message.diagnostic.text = base::Cat({text, TargetSuffix(parsed)});
}

// Said before what is wrong with any other option. The link then need not say so again.
void NoteIgnoredHostInfo(Parsed& parsed, std::vector<CommandMessage>& messages) {
  LinkOptions& options = parsed.command.options;
  if (!IgnoresHostInfo(options)) return;
  Say(Severity::kInfo, std::string(nvlink_text::kIgnoringHostInfo), parsed, messages);
  options.host_info = HostInfo::kDefault;
}

void WarnOfPreservedRelocations(Parsed& parsed, std::vector<CommandMessage>& messages) {
  const LinkOptions& options = parsed.command.options;
  constexpr std::uint32_t kFirst = 90;
  if (!options.preserve_relocations || options.target.number < kFirst) return;
  const auto severity = SeverityPolicyOf(options).Judge(Severity::kWarning);
  if (!severity) return;
  Say(*severity,
      base::Cat({"Option '--preserve-relocs' is not fully implemented for gpu archtecture '",
                 NameOfTarget(parsed), "' and may not work as expected"}),
      parsed, messages);
  parsed.command.is_in_error = *severity != Severity::kWarning;
}

// `13.1`: the major number is the toolkit's.
absl::Status CheckApiVersion(const Parsed& parsed) {
  if (!parsed.api_version) return absl::OkStatus();
  const std::string& text = *parsed.api_version;
  const std::size_t point = text.find('.');
  int major = 0;
  int minor = 0;
  if (point == std::string::npos || !absl::SimpleAtoi(text.substr(0, point), &major) ||
      !absl::SimpleAtoi(text.substr(point + 1), &minor)) {
    return Wrong({"--cuda-api-version value cannot be parsed"});
  }
  return major == parsed.command.options.profile.release / 10
             ? absl::OkStatus()
             : Wrong({"--cuda-api-version major number must be == toolkit version"});
}

absl::Status CheckFiles(const Parsed& parsed) {
  if (!parsed.output && !parsed.command.options.check_only) {
    return Wrong({"Must specify output file with -o option"});
  }
  if (parsed.command.inputs.empty()) {
    return Wrong({"No input files specified; use option --help for more information"});
  }
  return absl::OkStatus();
}

absl::Status Check(Parsed& parsed, Files files, std::vector<CommandMessage>& messages) {
  const NvlinkCommand& command = parsed.command;
  if (command.host_linker_script != HostLinkerScript::kNone) {
    return command.inputs.empty() ? absl::OkStatus()
                                  : Wrong({"Input files are not allowed with -ghls option; use "
                                           "--help for more information"});
  }
  if (parsed.arch.empty()) return Wrong({"Unknown arch name '(null)'"});
  const format::SmTraits& traits = format::TraitsOf(command.options.target);
  if (traits.first_release > command.options.profile.release) {
    return Wrong({"Value '", parsed.arch, "' is not defined for option 'arch'"});
  }
  if (files == Files::kNeeded) DEVLINK_RETURN_IF_ERROR(CheckFiles(parsed));
  DEVLINK_RETURN_IF_ERROR(CheckDebugOptions(command.options));
  if (parsed.dump_callgraph && parsed.dump_mangled) {
    return Conflict("-dump-callgraph", "-dump-callgraph-no-demangle");
  }
  if (parsed.uses_host_info && parsed.ignores_host_info) {
    return Conflict("-use-host-info", "-ignore-host-info");
  }
  NoteIgnoredHostInfo(parsed, messages);
  if (!parsed.lto_target.empty()) {
    return Wrong({"Link target of '", parsed.lto_target,
                  "' is virtual target that is not JIT-able; use 'sm_' target instead"});
  }
  DEVLINK_RETURN_IF_ERROR(FinishLto(parsed));
  DEVLINK_RETURN_IF_ERROR(CheckSymbolOptions(command.options));
  WarnOfPreservedRelocations(parsed, messages);
  return CheckApiVersion(parsed);
}

}  // namespace

absl::Status FinishCommand(Parsed& parsed, Files files, std::vector<CommandMessage>& messages) {
  const absl::Status status = Check(parsed, files, messages);
  if (status.ok()) return absl::OkStatus();
  return absl::Status(status.code(),
                      base::Cat({base::FromAbsl(status.message()), TargetSuffix(parsed)}));
}

}  // namespace devlink::internal
