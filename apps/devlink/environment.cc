// SPDX-License-Identifier: Apache-2.0
#include "devlink/environment.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "devlink/experimental/nvvm_program.h"

namespace devlink::app {

namespace {

// The entries of a variable such as PATH, without empty ones.
std::vector<std::string> ListIn(const char* variable) {
  std::vector<std::string> out;
  const char* value = std::getenv(variable);
  std::istringstream entries(value == nullptr ? "" : value);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (!entry.empty()) out.push_back(entry);
  }
  return out;
}

}  // namespace

std::vector<std::string> LibraryPath() { return ListIn("LIBRARY_PATH"); }

void FindAssemblers(PtxBackendOptions& backend) {
  namespace fs = std::filesystem;
  std::error_code error;
  // Where this program was built or installed.
  const fs::path self = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"../lib", "."}) {
    const fs::path library = self / place / "libdevlink_ptxcompiler.so";
    if (backend.nvptxcompiler_path.empty() && fs::exists(library, error)) {
      backend.nvptxcompiler_path = library.lexically_normal().string();
    }
  }
  for (const std::string& entry : ListIn("PATH")) {
    if (!backend.ptxas_path.empty()) break;
    const fs::path program = fs::path(entry) / "ptxas";
    if (access(program.c_str(), X_OK) != 0) continue;
    backend.ptxas_path = program.string();
    const fs::path library = fs::path(entry) / "../lib64/libnvJitLink.so.13";
    if (fs::exists(library, error)) backend.nvjitlink_path = library.lexically_normal().string();
  }
  backend.temporary_directory = fs::temp_directory_path(error).string();
}

void FindLtoLibraries(const PtxBackendOptions& assemblers, bool like_nvlink,
                      LtoBackendOptions& backend) {
  namespace fs = std::filesystem;
  backend.nvjitlink_path = assemblers.nvjitlink_path;
  if (like_nvlink) {
    backend.nvvm_path = (fs::path(backend.nvvm_path) / "lib64/libnvvm.so").string();
    return;
  }
  std::vector<std::string> places;
  if (!backend.nvvm_path.empty()) {
    places.push_back(backend.nvvm_path);
    // nvcc names a folder that is not there in toolkits made of wheels.
    places.push_back(fs::path(backend.nvvm_path).lexically_normal().parent_path().string());
  }
  if (!assemblers.ptxas_path.empty()) {
    places.push_back(fs::path(assemblers.ptxas_path).parent_path().parent_path().string());
  }
  const auto found = FindNvvmLibrary(places);
  if (found.ok()) backend.nvvm_path = *found;
}

}  // namespace devlink::app
