// SPDX-License-Identifier: Apache-2.0
#include "surroundings.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace devlink::nvjitlink {

namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

// A program that links at run time need not have a toolkit on its PATH: behind that come the places
// that toolkits are told to be in, and the usual one.
std::string ToolkitPath() {
  std::string out = Variable("PATH");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = Variable(name); !root.empty()) out += ":" + root + "/bin";
  }
  return out + ":/usr/local/cuda/bin";
}

// The folder that this library was loaded from.
fs::path OwnFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&TakeSurroundings), &info) == 0) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file.parent_path();
}

// The first of the folder and those above it that has `name`, with that; empty where none has.
// libdevlink's other files lie beside the folder, or in `bin` a few levels above.
fs::path FindUpwards(fs::path folder, const char* name) {
  constexpr int kLevels = 5;
  std::error_code error;
  for (int level = 0; level < kLevels && !folder.empty(); ++level) {
    if (fs::exists(folder / name, error)) return folder / name;
    folder = folder.parent_path();
  }
  return {};
}

}  // namespace

CommandContext TakeSurroundings() {
  std::error_code error;
  const fs::path own = OwnFolder();
  CommandContext out;
  out.path = ToolkitPath();
  out.temporary_directory = fs::temp_directory_path(error).string();
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  TakeTools([](const char* name) -> const char* { return std::getenv(name); }, out);
  if (out.nvptxcompiler.empty()) {
    out.nvptxcompiler = FindUpwards(own, "libdevlink_ptxcompiler.so").string();
  }
  out.program_directory = FindUpwards(own, "bin/devlink-finalizer").parent_path().string();
  return out;
}

}  // namespace devlink::nvjitlink
