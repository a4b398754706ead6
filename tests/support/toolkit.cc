// SPDX-License-Identifier: Apache-2.0
#include "support/toolkit.h"

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>

#include "support/process.h"

namespace devlink::testing {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool IsProgram(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string FindTool(std::string_view name) {
  if (const std::string home = Environment("CUDA_HOME"); !home.empty()) {
    std::string path = home + "/bin/" + std::string(name);
    if (IsProgram(path)) return path;
  }
  return FindOnPath(name);
}

// "Cuda compilation tools, release 13.0, V13.0.88" -> "13.0".
std::string ReleaseOf(const std::string& nvlink) {
  const ProcessResult version = RunProcess({nvlink, "--version"}, std::chrono::seconds(20));
  constexpr std::string_view kMark = "release ";
  const std::size_t start = version.out.find(kMark);
  if (start == std::string::npos) return {};
  const std::size_t from = start + kMark.size();
  return version.out.substr(from, version.out.find(',', from) - from);
}

std::optional<Toolkit> Search() {
  Toolkit found;
  found.nvcc = FindTool("nvcc");
  found.ptxas = FindTool("ptxas");
  found.nvlink = FindTool("nvlink");
  if (found.nvcc.empty() || found.ptxas.empty() || found.nvlink.empty()) return std::nullopt;
  found.nvdisasm = Environment("NVDISASM");
  if (!IsProgram(found.nvdisasm)) found.nvdisasm = FindTool("nvdisasm");
  const std::filesystem::path library =
      std::filesystem::path(found.ptxas).parent_path() / "../lib64/libnvJitLink.so.13";
  std::error_code ignored;
  if (std::filesystem::exists(library, ignored)) {
    found.nvjitlink = library.lexically_normal().string();
  }
  found.release = ReleaseOf(found.nvlink);
  return found;
}

}  // namespace

std::string FindOnPath(std::string_view program) {
  const std::string path = Environment("PATH");
  std::size_t from = 0;
  while (from <= path.size()) {
    std::size_t to = path.find(':', from);
    if (to == std::string::npos) to = path.size();
    if (to > from) {
      std::string candidate = path.substr(from, to - from) + "/" + std::string(program);
      if (IsProgram(candidate)) return std::filesystem::absolute(candidate).string();
    }
    from = to + 1;
  }
  return {};
}

std::optional<Toolkit> FindToolkit() {
  static const std::optional<Toolkit> kToolkit = Search();
  return kToolkit;
}

}  // namespace devlink::testing
