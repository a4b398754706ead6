// SPDX-License-Identifier: Apache-2.0
//
// The program `devlink`: tells the library what the process knows, and prints what it says.
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "devlink/allocator.h"
#include "devlink/experimental/spdlog_sink.h"
#include "devlink/nvlink_command.h"
#include "devlink/terminal_progress.h"

namespace devlink::app {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

CommandContext TakeContext() {
  namespace fs = std::filesystem;
  std::error_code error;
  return {.path = Variable("PATH"),
          .library_path = Variable("LIBRARY_PATH"),
          .working_directory = fs::current_path(error).string(),
          .temporary_directory = fs::temp_directory_path(error).string(),
          .program_directory = fs::read_symlink("/proc/self/exe", error).parent_path().string()};
}

SpdlogSink LogOnStandardError() {
  auto logger = std::make_shared<spdlog::logger>(
      "devlink", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(spdlog::level::debug);
  return SpdlogSink(std::move(logger));
}

int Main(const std::vector<std::string>& words) {
  TerminalProgress progress;
  const auto say = [&progress](const Diagnostic& diagnostic) {
    progress.Clear();
    fmt::print(stderr, "{}", RenderDiagnostic(diagnostic, "devlink"));
  };
  const CommandContext context = TakeContext();
  const auto command = ParseNvlinkCommand(words, context);
  if (!command.ok()) {
    say({.severity = Severity::kFatal, .text = std::string(command.status().message())});
    return 1;
  }
  std::optional<SpdlogSink> log;
  if (command->log) log.emplace(LogOnStandardError());
  // Compilers within this process take and free large blocks all the time.
  command->options.lto.enabled ? KeepLargeBlocks() : ReturnLargeBlocks();
  return RunNvlinkCommand(*command, context,
                          {.out = [](std::string_view text) { fmt::print("{}", text); },
                           .say = say,
                           .log = log ? &*log : nullptr,
                           .progress = &progress});
}

}  // namespace
}  // namespace devlink::app

int main(int argc, char** argv) { return devlink::app::Main({argv + 1, argv + argc}); }
