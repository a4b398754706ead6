// SPDX-License-Identifier: Apache-2.0
#include "c_api/option_texts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::c_api {

namespace {

std::vector<Diagnostic> DiagnosticsOf(std::vector<CommandMessage> messages) {
  std::vector<Diagnostic> out;
  out.reserve(messages.size());
  for (CommandMessage& message : messages) out.push_back(std::move(message.diagnostic));
  return out;
}

}  // namespace

absl::StatusOr<NvlinkCommand> ReadSessionOptions(const std::vector<std::string>& words,
                                                 internal::OptionChecks checks,
                                                 const Environment& environment,
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
    if (option->concern == internal::Concern::kCommand) {
      return absl::InvalidArgumentError(
          base::Cat({"--", option->long_name, " is for the command alone"}));
    }
  }
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
