// SPDX-License-Identifier: Apache-2.0
#include "input/register_file.h"

#include "base/strings.h"

namespace devlink::internal {

std::string MakeModuleId(std::string_view working_directory, std::string_view name) {
  std::string out = base::Cat({working_directory, "/", name});
  for (char& c : out) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!kept) c = '_';
  }
  return out;
}

std::string RegisterFileText(const std::vector<RegisteredModule>& modules) {
  std::string lines;
  std::size_t count = 0;
  const auto add = [&](std::string_view id) {
    lines += base::Cat({"DEFINE_REGISTER_FUNC(", id, ")\n"});
    ++count;
  };
  for (const RegisteredModule& module : modules) {
    if (!module.ids.empty()) add(module.ids.front());
  }
  for (const RegisteredModule& module : modules) {
    for (std::size_t i = 1; i < module.ids.size(); ++i) add(module.ids[i]);
  }
  return base::Cat({"#define NUM_PRELINKED_OBJECTS ", std::to_string(count), "\n", lines});
}

bool KeepRegisterFile(const std::optional<std::string>& existing, bool dropped_cudadevrt) {
  if (!existing.has_value()) return false;
  return dropped_cudadevrt || existing->find("_cuda_device_runtime_") != std::string::npos;
}

}  // namespace devlink::internal
