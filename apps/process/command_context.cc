// SPDX-License-Identifier: Apache-2.0
#include "process/command_context.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace devlink::app {

namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> TakeVariables() {
  std::vector<std::string> out;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    out.emplace_back(*variable);
  }
  return out;
}

}  // namespace

CommandContext TakeContext() {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string_view called = program_invocation_short_name;
  CommandContext out = {
      .path = Variable("PATH"),
      .library_path = Variable("LIBRARY_PATH"),
      .working_directory = fs::current_path(error).string(),
      .temporary_directory = fs::temp_directory_path(error).string(),
      .variables = TakeVariables(),
      // nvlink where the program stands in its place, such as through a link of that name.
      .program_name = called == "nvlink" ? "nvlink" : "devlink",
      .program_directory = fs::read_symlink("/proc/self/exe", error).parent_path().string()};
  TakeTools([](const char* name) -> const char* { return std::getenv(name); }, out);
  return out;
}

}  // namespace devlink::app
