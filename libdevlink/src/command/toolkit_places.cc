// SPDX-License-Identifier: Apache-2.0
#include "command/toolkit_places.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/strings.h"
#include "command/words.h"
#include "devlink/experimental/nvvm_program.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

namespace fs = std::filesystem;

// What an option has not named.
void Default(const std::string& place, std::string& out) {
  if (out.empty()) out = place;
}

// The folder above what -nvvmpath names; empty where it names none.
fs::path AboveNvvm(const LtoBackendOptions& lto) {
  return fs::path(lto.nvvm_path).lexically_normal().parent_path();
}

bool IsThere(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Where a file really lies; empty where there is none.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? "" : real.get();
}

void FindPtxas(const CommandContext& context, const LtoBackendOptions& lto,
               PtxBackendOptions& backend) {
  Default(context.ptxas, backend.ptxas_path);
  if (!backend.ptxas_path.empty()) return;
  // Texts and no paths: each run of the command looks there, and a path takes ten times as long.
  const auto is_in = [&](std::string_view folder) {
    std::string ptxas = Within(folder, "ptxas");
    const bool found = access(ptxas.c_str(), X_OK) == 0;
    if (found) backend.ptxas_path = std::move(ptxas);
    return found;
  };
  for (const std::string& entry : SplitPath(context.path)) {
    // Programs and libraries of whatever folder the linker happens to run in are not its tools.
    if (entry.starts_with('/') && is_in(entry)) return;
  }
  // An nvcc that was called by a relative name puts such a folder on PATH; its -nvvmpath does
  // count.
  const fs::path above = AboveNvvm(lto);
  if (!above.empty()) is_in((above / "bin").string());
}

void FindAssemblers(const CommandContext& context, const LtoBackendOptions& lto,
                    PtxBackendOptions& backend) {
  Default(context.nvptxcompiler, backend.nvptxcompiler_path);
  if (backend.nvptxcompiler_path.empty()) {
    backend.nvptxcompiler_path = BesideProgram(context, "libdevlink_ptxcompiler.so");
  }
  FindPtxas(context, lto, backend);
  Default(context.nvjitlink, backend.nvjitlink_path);
  if (!backend.ptxas_path.empty() && backend.nvjitlink_path.empty()) {
    const std::string library = Within(FolderOf(backend.ptxas_path), "../lib64/libnvJitLink.so.13");
    if (IsThere(library)) {
      backend.nvjitlink_path = fs::path(library).lexically_normal().string();
    }
  }
  backend.temporary_directory = context.temporary_directory;
  backend.host_environment = context.tool_variables;
}

void FindLtoLibraries(const PtxBackendOptions& assemblers, const std::string& nvvm,
                      Compatibility compatibility, LtoBackendOptions& backend) {
  backend.nvjitlink_path = assemblers.nvjitlink_path;
  backend.host_environment = assemblers.host_environment;
  if (compatibility == Compatibility::kNvlink && !backend.nvvm_path.empty()) {
    backend.nvvm_path = (fs::path(backend.nvvm_path) / "lib64/libnvvm.so").string();
    return;
  }
  Default(nvvm, backend.nvvm_path);
  std::vector<std::string> places;
  if (!backend.nvvm_path.empty()) {
    places.push_back(backend.nvvm_path);
    // nvcc names a folder that does not exist in toolkits made of wheels.
    const fs::path above = AboveNvvm(backend);
    if (!above.empty()) places.push_back(above.string());
  }
  if (!assemblers.ptxas_path.empty()) {
    places.push_back(fs::path(assemblers.ptxas_path).parent_path().parent_path().string());
  }
  const auto found = FindNvvmLibrary(places);
  if (found.ok()) backend.nvvm_path = *found;
}

// The one of the toolkit that ptxas really lies in: PATH may have a link to it, and devlink where
// nvlink would be (docs/drop-in.md).
void FindNvlink(const CommandContext& context, const std::string& ptxas, const LinkOptions& options,
                FinalizerOptions& backend) {
  Default(context.nvlink, backend.nvlink_path);
  const bool is_of_use =
      format::HasTwoViews(options.target.number) && backend.backend != FinalizerBackend::kNvJitLink;
  if (!backend.nvlink_path.empty() || ptxas.empty() || !is_of_use) return;
  const std::string program = Within(FolderOf(RealPath(ptxas)), "nvlink");
  if (access(program.c_str(), X_OK) != 0 || RealPath(program).ends_with("/devlink")) return;
  backend.nvlink_path = program;
}

}  // namespace

std::string BesideProgram(const CommandContext& context, std::string_view library) {
  if (context.program_directory.empty()) return "";
  for (const std::string_view place : {"../lib/", "./"}) {
    const std::string file = base::Cat({Within(context.program_directory, place), library});
    if (IsThere(file)) return fs::path(file).lexically_normal().string();
  }
  return "";
}

void FindTools(const CommandContext& context, const LinkOptions& options,
               ToolchainOptions& toolchain) {
  FindAssemblers(context, toolchain.lto, toolchain.ptx);
  if (toolchain.finalizer.nvjitlink_path.empty()) {
    toolchain.finalizer.nvjitlink_path = toolchain.ptx.nvjitlink_path;
  }
  FindNvlink(context, toolchain.ptx.ptxas_path, options, toolchain.finalizer);
  toolchain.finalizer.host_environment = toolchain.ptx.host_environment;
  toolchain.finalizer.temporary_directory = toolchain.ptx.temporary_directory;
  const std::string worker = Within(context.program_directory, "devlink-finalizer");
  if (!context.program_directory.empty() && access(worker.c_str(), X_OK) == 0) {
    toolchain.finalizer.worker_path = worker;
  }
  if (options.lto.enabled) {
    FindLtoLibraries(toolchain.ptx, context.nvvm, options.compatibility, toolchain.lto);
  }
}

bool LacksLtoLibrary(const LinkOptions& options, const ToolchainOptions& toolchain) {
  std::error_code error;
  return options.lto.enabled && options.compatibility == Compatibility::kNvlink &&
         !toolchain.lto.nvvm_path.empty() && !fs::exists(toolchain.lto.nvvm_path, error);
}

void AdviseOnTools(ToolchainOptions& toolchain) {
  toolchain.ptx.advice =
      "or name one: --ptxas-path, --nvptxcompiler-path and --nvjitlink-path, or the variables "
      "DEVLINK_PTXAS, DEVLINK_NVPTXCOMPILER and DEVLINK_NVJITLINK";
  toolchain.lto.advice =
      "name one: -nvvmpath or --nvjitlink-path, or the variable DEVLINK_NVVM or DEVLINK_NVJITLINK";
  toolchain.finalizer.advice =
      "name one: --nvlink-path or --nvjitlink-path, or the variable DEVLINK_NVLINK or "
      "DEVLINK_NVJITLINK";
}

namespace {

// `#define CUDART_VERSION  13050` -> 135; 0 where the file is not there or does not say.
int ReleaseInHeader(const std::string& header) {
  constexpr std::size_t kFarEnough = 32 << 10;  // bytes; release 13.0 has it behind 6,142
  constexpr std::string_view kName = "#define CUDART_VERSION";
  const base::Descriptor file(open(header.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return 0;
  const auto bytes = std::make_unique_for_overwrite<char[]>(kFarEnough);
  ssize_t size = 0;
  do {
    size = read(file.get(), bytes.get(), kFarEnough);
  } while (size < 0 && errno == EINTR);
  const std::string_view text(bytes.get(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos) return 0;
  const std::size_t begin = text.find_first_not_of(' ', at + kName.size());
  if (begin == std::string_view::npos) return 0;
  int number = 0;
  std::from_chars(text.data() + begin, text.data() + text.size(), number);
  return number / 1000 * 10 + number % 1000 / 10;
}

}  // namespace

ToolkitProfile ProfileOfToolkit(const std::string& ptxas) {
  if (ptxas.empty()) return {};
  const std::string program = RealPath(ptxas);  // PATH may have a link to it
  if (program.empty()) return {};
  const int release =
      ReleaseInHeader(Within(FolderOf(FolderOf(program)), "include/cuda_runtime_api.h"));
  return release == 0 ? ToolkitProfile() : ToolkitProfile::Nearest(release);
}

}  // namespace devlink::internal

namespace devlink {

// Found with a getenv in front of the system's that writes down what it is asked for, with release
// 13.0 of nvPTXCompiler, libNVVM and libnvJitLink.
std::span<const std::string_view> ToolVariables() {
  static constexpr std::array<std::string_view, 8> kVariables = {
      "AS_SECURE_LOG_FILE",   "DUMP_KNOBS_TO_FILE",     "LIBNVVM_DISABLE_CONCURRENT_API",
      "LIBNVVM_NVVM_VERSION", "LLVM_OVERRIDE_PRODUCER", "NVJITLINK_TRACE_MESSAGES",
      "NVVM_IR_VER_CHK",      "NV_NVVM_VERSION"};
  return kVariables;
}

void TakeTools(const std::function<const char*(const char* name)>& lookup,
               CommandContext& context) {
  const auto value = [&](const char* name) {
    const char* found = lookup(name);
    return std::string(found == nullptr ? "" : found);
  };
  context.tool_variables.clear();
  for (const std::string_view name : ToolVariables()) {
    const std::string text(name);
    if (const char* found = lookup(text.c_str()); found != nullptr) {
      context.tool_variables.push_back(base::Cat({text, "=", found}));
    }
  }
  context.ptxas = value("DEVLINK_PTXAS");
  context.nvptxcompiler = value("DEVLINK_NVPTXCOMPILER");
  context.nvvm = value("DEVLINK_NVVM");
  context.nvjitlink = value("DEVLINK_NVJITLINK");
  context.nvlink = value("DEVLINK_NVLINK");
}

}  // namespace devlink
