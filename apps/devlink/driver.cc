// SPDX-License-Identifier: Apache-2.0
#include "devlink/driver.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "devlink/command_line.h"
#include "devlink/devlink.h"
#include "devlink/spdlog_sink.h"

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

// Writes beside the target and renames: nobody ever sees half a file.
bool WriteWhole(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return false;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    std::FILE* file = std::fopen(path.c_str(), "wb");  // a device or a pipe cannot be renamed onto
    if (file == nullptr) return false;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written;
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) {
    std::filesystem::remove(temporary, error);
    return false;
  }
  std::filesystem::rename(temporary, path, error);
  if (!error) return true;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return false;
}

int ExitStatus(const std::vector<Diagnostic>& diagnostics) {
  int status = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kFatal) return kFatalStatus;
    if (diagnostic.severity == Severity::kError) status = kErrorStatus;
  }
  return status;
}

std::vector<std::uint8_t> ReadAll(const std::string& path, bool& ok) {
  std::ifstream file(path, std::ios::binary);
  ok = file.good();
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> LibraryDirectories(const CommandLine& line) {
  std::vector<std::string> out = line.library_path;
  const char* more = std::getenv("LIBRARY_PATH");
  std::istringstream entries(more == nullptr ? "" : more);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (!entry.empty()) out.push_back(entry);
  }
  return out;
}

// One file is one input, however it is called; only archives are looked at.
class SeenArchives {
 public:
  bool IsNew(const std::string& path) {
    std::array<char, 7> magic = {};
    std::ifstream file(path, std::ios::binary);
    file.read(magic.data(), magic.size());
    const std::string_view text(magic.data(), magic.size());
    if (text != "!<arch>" && text != "!<thin>") return true;
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0) return true;
    return seen_.emplace(info.st_dev, info.st_ino).second;
  }

 private:
  std::set<std::pair<dev_t, ino_t>> seen_;
};

// Files first, then libraries. False, perhaps with a text, where the link must end.
bool AddInputs(const CommandLine& line, LinkSession& session, std::string& failure) {
  SeenArchives seen;
  const auto add = [&](const std::string& path) {
    return !seen.IsNew(path) || session.AddFile(path).ok();
  };
  // -l is looked up before any file is read.
  std::vector<std::string> found;
  const std::vector<std::string> directories = LibraryDirectories(line);
  const LibraryProbe probe{
      .exists = [](const std::string& path) { return std::filesystem::exists(path); },
      .read = [](const std::string& path) -> absl::StatusOr<std::vector<std::uint8_t>> {
        bool ok = false;
        auto bytes = ReadAll(path, ok);
        if (!ok) return absl::NotFoundError("cannot read");
        return bytes;
      }};
  for (const std::string& name : line.libraries) {
    const FoundLibrary library = FindLibrary(name, directories, line.cpu_arch, probe);
    for (const Diagnostic& diagnostic : library.diagnostics) {
      if (diagnostic.severity == Severity::kFatal) {
        failure = diagnostic.text;
        return false;
      }
      Print(diagnostic);
    }
    if (!library.path.empty()) found.push_back(library.path);
  }
  return std::all_of(line.inputs.begin(), line.inputs.end(), add) &&
         std::all_of(found.begin(), found.end(), add);
}

bool WriteRegisterFile(const CommandLine& line, const LinkSession& session) {
  bool exists = false;
  const auto old = ReadAll(line.register_file, exists);
  if (exists && session.KeepsRegisterFile(std::string(old.begin(), old.end()))) return true;
  std::error_code error;
  const std::string text = session.RegisterFileText(std::filesystem::current_path(error).string());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return WriteWhole(line.register_file, {bytes, text.size()});
}

// Where this program was built or installed, and the toolkit on PATH.
void FindAssemblers(PtxBackendOptions& backend) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"../lib", "."}) {
    const auto library = self / place / "libdevlink_ptxcompiler.so";
    if (backend.nvptxcompiler_path.empty() && std::filesystem::exists(library, error)) {
      backend.nvptxcompiler_path = library.lexically_normal().string();
    }
  }
  const char* path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "" : path);
  for (std::string entry; backend.ptxas_path.empty() && std::getline(entries, entry, ':');) {
    const auto program = std::filesystem::path(entry) / "ptxas";
    if (access(program.c_str(), X_OK) != 0) continue;
    backend.ptxas_path = program.string();
    const auto library = std::filesystem::path(entry) / "../lib64/libnvJitLink.so.13";
    if (std::filesystem::exists(library, error)) {
      backend.nvjitlink_path = library.lexically_normal().string();
    }
  }
  backend.temporary_directory = std::filesystem::temp_directory_path(error).string();
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
  FindAssemblers(options.ptx_backend);
  auto session = LinkSession::Create(options, nullptr, log.get());
  if (!session.ok()) return Fail(std::string(session.status().message()));
  // As with nvlink, the first input that cannot be used ends the run.
  std::string failure;
  const bool added = AddInputs(line, *session, failure);
  absl::StatusOr<LinkResult> result = absl::CancelledError();
  if (added && ExitStatus(session->diagnostics()) == 0) result = session->Link();
  for (const Diagnostic& diagnostic : session->diagnostics()) Print(diagnostic);
  if (!failure.empty()) return Fail(failure);
  if (!result.ok()) {
    if (!line.register_file.empty() && ExitStatus(session->diagnostics()) == kErrorStatus) {
      WriteRegisterFile(line, *session);
    }
    const int status = ExitStatus(session->diagnostics());
    return status != 0 ? status : Fail(std::string(result.status().message()));
  }
  if (!WriteWhole(line.output, result->cubin)) {
    return Fail(fmt::format("Could not open output file '{}'", line.output));
  }
  if (!line.register_file.empty() && !WriteRegisterFile(line, *session)) {
    return Fail(fmt::format("Could not open output file '{}'", line.register_file));
  }
  if (line.report.empty()) return 0;
  const std::string json = ToJson(result->report);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(json.data());
  if (WriteWhole(line.report, {bytes, json.size()})) return 0;
  return Fail(fmt::format("Could not open output file '{}'", line.report));
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
