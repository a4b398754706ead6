// SPDX-License-Identifier: Apache-2.0
#include "c_api/option_texts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/nvlink_text.h"

namespace devlink::c_api {

namespace {

std::vector<Diagnostic> DiagnosticsOf(std::vector<CommandMessage> messages) {
  std::vector<Diagnostic> out;
  out.reserve(messages.size());
  for (CommandMessage& message : messages) out.push_back(std::move(message.diagnostic));
  return out;
}

// Where a caller has what an option of the command writes or answers.
struct Counterpart {
  std::string_view option;
  std::string_view is;
};
constexpr std::array kCounterparts = {
    Counterpart{"register-link-binaries",
                "register_directory of dl_session_options and dl_outcome_register_file are"},
    Counterpart{"time", "dl_outcome_compiler_run is"},
    Counterpart{"dot-file",
                "call_graph_dot of dl_session_options and dl_outcome_call_graph_dot are"},
    Counterpart{"version", "dl_version is"},
    Counterpart{"diagnostics-format", "dl_diagnostics_json and dl_diagnostics_sarif are"},
    Counterpart{"report",
                "details of dl_session_options, dl_outcome_report_json and dl_outcome_report_html "
                "are"},
    Counterpart{"map", "details of dl_session_options and dl_outcome_map are"},
    Counterpart{"why-live", "details of dl_session_options and dl_outcome_why_live are"},
    Counterpart{"why-input", "details of dl_session_options and dl_outcome_why_input are"},
    Counterpart{"why-registers", "details of dl_session_options and dl_outcome_why_registers are"},
    Counterpart{"size", "details of dl_session_options and dl_outcome_sizes are"},
    Counterpart{"cache", "dl_cache_create_in_directory is"},
    Counterpart{"remote-cache", "dl_cache_create is"},
    Counterpart{"time-trace", "time_trace of dl_session_options is"},
    Counterpart{"log", "log of dl_session_options is"},
};

absl::Status ForTheCommand(const internal::Option& option) {
  std::string text = base::Cat({"--", option.long_name, " is for the command alone"});
  const auto* same = std::ranges::find(kCounterparts, option.long_name, &Counterpart::option);
  if (same != kCounterparts.end()) text += base::Cat({"; ", same->is, " its counterpart"});
  return absl::InvalidArgumentError(text);
}

// What -nv-host puts into the output, with the command's words where that cannot be read.
absl::Status ReadHostSection(const Environment& environment, std::uint64_t max_bytes,
                             NvlinkCommand& command) {
  if (!command.host_file) return absl::OkStatus();
  const std::string& path = *command.host_file;
  const auto file = environment.ReadFile(path, max_bytes);
  if (!file.ok()) {
    return absl::InvalidArgumentError(base::ToAbsl(format::nvlink_text::CouldNotOpen(path)));
  }
  if (file->bytes.empty()) {
    return absl::InvalidArgumentError(base::Cat({"Could not read file '", path, "'"}));
  }
  command.options.host_section.emplace(file->bytes.begin(), file->bytes.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NvlinkCommand> ReadSessionOptions(const std::vector<std::string>& words,
                                                 internal::OptionChecks checks,
                                                 const Environment& environment,
                                                 std::uint64_t max_file_bytes,
                                                 std::vector<Diagnostic>& said) {
  CommandContext context;
  context.read_options_file = [&](const std::string& path) -> std::optional<std::string> {
    constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;
    const auto file = environment.ReadFile(path, kMaxBytes);
    if (!file.ok()) return std::nullopt;
    return std::string(file->bytes.begin(), file->bytes.end());
  };
  std::vector<CommandMessage> messages;
  auto read = internal::ParseOptionWords(words, context, checks, messages);
  said = DiagnosticsOf(std::move(messages));
  if (!read.ok()) return read.status();
  for (const internal::Option* option : read->given) {
    if (option->concern == internal::Concern::kTools) {
      return absl::InvalidArgumentError(
          base::Cat({"--", option->long_name, " is an option of dl_toolchain_create"}));
    }
    if (option->concern == internal::Concern::kCommand) return ForTheCommand(*option);
  }
  DEVLINK_RETURN_IF_ERROR(ReadHostSection(environment, max_file_bytes, read->command));
  return std::move(read->command);
}

absl::StatusOr<ToolchainOptions> ReadToolOptions(const std::vector<std::string>& words,
                                                 std::vector<Diagnostic>& said) {
  std::vector<CommandMessage> messages;
  auto read = internal::ParseOptionWords(words, {}, internal::OptionChecks::kEach, messages);
  said = DiagnosticsOf(std::move(messages));
  if (!read.ok()) return read.status();
  for (const internal::Option* option : read->given) {
    if (option->concern != internal::Concern::kTools) {
      return absl::InvalidArgumentError(
          base::Cat({"--", option->long_name, " does not choose a tool"}));
    }
  }
  return std::move(read->command.toolchain);
}

}  // namespace devlink::c_api
