// SPDX-License-Identifier: Apache-2.0
//
// The program `devlink`: tells the library what the process knows, and prints what it says.
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "devlink/experimental/spdlog_sink.h"
#include "devlink/nvlink_command.h"
#include "devlink/terminal_progress.h"
#include "process/allocator.h"
#include "process/command_context.h"
#include "process/interruption.h"
#include "process/message_printer.h"
#include "process/standard_streams.h"
#include "process/terminal_line.h"

namespace devlink::app {
namespace {

SpdlogSink LogOnStandardError() {
  auto logger = std::make_shared<spdlog::logger>(
      "devlink", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(spdlog::level::debug);
  return SpdlogSink(std::move(logger));
}

// Of the inputs that are files, as far as memory could be had for them.
std::size_t SizeOf(const std::vector<std::string>& inputs) {
  constexpr std::uintmax_t kMost = 1 << 30;
  std::uintmax_t bytes = 0;
  for (const std::string& input : inputs) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(input, error);
    if (!error) bytes = std::min(kMost, bytes + std::min(kMost, size));
  }
  return bytes;
}

int Main(const std::vector<std::string>& words) {
  SecureStandardStreams();
  Interruption interruption;
  TerminalLine line;
  TerminalProgress progress(interruption, line);
  CommandContext context = TakeContext();
  context.environment = &interruption;
  MessagePrinter printer(context.program_name);
  const auto say = [&](const Diagnostic& diagnostic) {
    if (interruption.came()) return;  // whoever stopped the link knows
    line.Clear();
    printer.Say(diagnostic);
  };
  std::vector<CommandMessage> messages;
  const auto command = ParseNvlinkCommand(words, context, &messages);
  command.ok() ? printer.Follow(*command) : printer.Follow(MessageFormatOf(words));
  for (const CommandMessage& message : messages) {
    // A word behind may be what names the tool.
    if (printer.prints_text()) {
      MessagePrinter(message.tool.value_or(context.program_name)).Say(message.diagnostic);
    } else {
      printer.Say(message.diagnostic);
    }
  }
  if (!command.ok()) {
    if (messages.empty()) {
      say({.severity = Severity::kFatal, .text = std::string(command.status().message())});
    }
    printer.End();
    return 1;
  }
  std::optional<SpdlogSink> log;
  if (command->log) {
    line.Silence();
    log.emplace(LogOnStandardError());
  }
  // Compilers within this process take and free large blocks all the time, and so does what is done
  // to the finalizer's files.
  constexpr int kFirstFinalized = 100;
  const bool finalizes = command->options.target.number >= kFirstFinalized;
  const bool takes_many = command->options.lto.enabled || finalizes;
  // More than inputs take, with what is read out of them, where they are small.
  constexpr std::size_t kManyInputs = 64;
  constexpr std::size_t kForAnInput = 1 << 16;
  if (!takes_many && command->inputs.size() >= kManyInputs) {
    ExpectToTake(command->inputs.size() * kForAnInput);
    progress.GiveBackWhenRead();
  }
  // Two programs are merged, and the finalizer's file is read and changed.
  constexpr std::size_t kLargeInputs = 1 << 20;
  constexpr std::size_t kTimesInputs = 8;
  const std::size_t input_bytes = finalizes ? SizeOf(command->inputs) : 0;
  if (input_bytes >= kLargeInputs) ExpectToTake(kTimesInputs * input_bytes);
  takes_many ? KeepLargeBlocks() : ReturnLargeBlocks();
  const bool starts_processes = command->host_linker_script != HostLinkerScript::kNone ||
                                (finalizes && command->options.finalize != FinalizeMode::kNever);
  if (starts_processes) interruption.Watch();
  const int status = RunNvlinkCommand(
      *command, context,
      {.out = PrintOut, .say = say, .log = log ? &*log : nullptr, .progress = &progress});
  line.Clear();
  interruption.EndProcess();
  const bool taken = status != 0 || OutputWasTaken();
  if (!taken) say({.severity = Severity::kFatal, .text = "Could not write to standard output"});
  printer.End();
  return taken ? status : 1;
}

}  // namespace
}  // namespace devlink::app

int main(int argc, char** argv) { return devlink::app::Main({argv + 1, argv + argc}); }
