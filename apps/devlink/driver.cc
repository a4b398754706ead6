// SPDX-License-Identifier: Apache-2.0
#include "devlink/driver.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <system_error>

#include "devlink/allocator.h"
#include "devlink/command_line.h"
#include "devlink/devlink.h"
#include "devlink/environment.h"
#include "devlink/output_file.h"
#include "devlink/spdlog_sink.h"
#include "devlink/terminal_progress.h"

namespace devlink::app {

namespace {

constexpr std::string_view kTool = "devlink";
constexpr int kFatalStatus = 1;
constexpr int kErrorStatus = 255;

void Print(const Diagnostic& diagnostic) {
  fmt::print(stderr, "{}", RenderDiagnostic(diagnostic, kTool));
}

int Fail(std::string text) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::kFatal;
  diagnostic.text = std::move(text);
  Print(diagnostic);
  return kFatalStatus;
}

int ExitStatus(const std::vector<Diagnostic>& diagnostics) {
  int status = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kFatal) return kFatalStatus;
    if (diagnostic.severity == Severity::kError) status = kErrorStatus;
  }
  return status;
}

// Files first, then libraries, as nvlink takes them. False where the link must end; the session's
// diagnostics say why.
bool AddInputs(const CommandLine& line, LinkSession& session) {
  LibraryQuery query = line.libraries;
  for (std::string& directory : LibraryPath()) query.directories.push_back(std::move(directory));
  const auto libraries = session.FindLibraries(query);
  const auto add = [&](const std::string& path) {
    const bool added = session.AddFile(path).ok();
    if (session.HasPtx()) KeepLargeBlocks();
    return added;
  };
  return libraries.ok() && std::all_of(line.inputs.begin(), line.inputs.end(), add) &&
         std::all_of(libraries->begin(), libraries->end(), add);
}

absl::Status WriteText(const std::string& path, std::string_view text) {
  return WriteWhole(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

absl::Status WriteRegisterFile(const CommandLine& line, const LinkSession& session) {
  std::ifstream file(line.register_file, std::ios::binary);
  if (file.good()) {
    const std::string old{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (session.KeepsRegisterFile(old)) return absl::OkStatus();
  }
  std::error_code error;
  return WriteText(line.register_file,
                   session.RegisterFileText(std::filesystem::current_path(error).string()));
}

int Link(const CommandLine& line) {
  std::unique_ptr<SpdlogSink> log;
  if (line.log) {
    auto logger = std::make_shared<spdlog::logger>(
        "devlink", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    logger->set_level(spdlog::level::debug);
    log = std::make_unique<SpdlogSink>(std::move(logger));
  }
  LinkOptions options = line.options;
  // Compilers within this process take and free large blocks all the time.
  options.lto.enabled ? KeepLargeBlocks() : ReturnLargeBlocks();
  FindAssemblers(options.ptx_backend);
  if (options.lto.enabled) {
    FindLtoLibraries(options.ptx_backend, options.compatibility == Compatibility::kNvlink,
                     options.lto.backend);
  }
  if (!line.register_file.empty()) {
    std::error_code error;
    options.register_directory = std::filesystem::current_path(error).string();
  }
  options.before_output = ReturnFreePages;
  if (!line.cache.empty()) {
    auto cache = CreateDirectoryCache({.path = line.cache});
    if (!cache.ok()) return Fail(std::string(cache.status().message()));
    options.cache = *std::move(cache);
  }
  TerminalProgress progress;
  auto session = LinkSession::Create(options, nullptr, log.get(), progress.sink());
  if (!session.ok()) return Fail(std::string(session.status().message()));
  // As with nvlink, the first input that cannot be used ends the run.
  const bool added = AddInputs(line, *session);
  absl::StatusOr<LinkResult> result = absl::CancelledError();
  OutputFile output(line.output);
  if (added && ExitStatus(session->diagnostics()) == 0) result = session->LinkTo(output);
  progress.Clear();
  for (const Diagnostic& diagnostic : session->diagnostics()) Print(diagnostic);
  const int status = ExitStatus(session->diagnostics());
  if (!result.ok()) {
    if (added && !line.register_file.empty() && status == kErrorStatus) {
      WriteRegisterFile(line, *session).IgnoreError();
    }
    return status != 0 ? status : Fail(std::string(result.status().message()));
  }
  absl::Status written;
  if (!options.check_only || options.lto.enabled) {
    written = result->ptx.empty() ? output.Commit() : WriteText(line.output, result->ptx);
  }
  if (written.ok() && !line.register_file.empty()) written = WriteRegisterFile(line, *session);
  if (written.ok() && !line.report.empty())
    written = WriteText(line.report, ToJson(result->report));
  return written.ok() ? status : Fail(std::string(written.message()));
}

}  // namespace

int RunDriver(const std::vector<std::string>& arguments) {
  auto parsed = ParseCommandLine(arguments);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return Fail(*wrong);
  const auto& line = std::get<CommandLine>(parsed);
  for (const std::string& warning : line.warnings) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::kWarning;
    diagnostic.text = warning;
    Print(diagnostic);
  }
  if (line.help) {
    fmt::print("{}", HelpText());
    return 0;
  }
  if (line.version) {
    fmt::print(
        "devlink: open device linker for CUDA, version {}\n"
        "Writes what nvlink of CUDA 13.0 writes (release 13.0, V13.0.88)\n",
        Version());
    return 0;
  }
  return Link(line);
}

}  // namespace devlink::app
