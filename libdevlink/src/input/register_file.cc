// SPDX-License-Identifier: Apache-2.0
#include "input/register_file.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "format/nvlink_text.h"

namespace devlink::internal {

std::string MakeModuleId(std::string_view working_directory, std::string_view name) {
  std::string out =
      name.starts_with('/') ? std::string(name) : base::Cat({working_directory, "/", name});
  std::ranges::replace_if(out, [](unsigned char c) { return !absl::ascii_isalnum(c); }, '_');
  return out;
}

bool IsModuleId(std::string_view id) {
  return std::ranges::all_of(id,
                             [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

std::string RegisterFileText(const std::vector<RegisteredModule>& modules, bool is_whole_program) {
  std::string lines;
  std::size_t count = 0;
  const auto add = [&](std::string_view id) {
    lines += base::Cat({"DEFINE_REGISTER_FUNC(", id, ")\n"});
    ++count;
  };
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const RegisteredModule& module = modules[is_whole_program ? modules.size() - 1 - i : i];
    if (!module.ids.empty() && !module.left_out) add(module.ids.front());
  }
  for (auto module = modules.rbegin(); module != modules.rend(); ++module) {
    for (std::size_t i = module->ids.size(); i-- > 1;) add(module->ids[i]);
  }
  return base::Cat({"#define NUM_PRELINKED_OBJECTS ", std::to_string(count), "\n", lines});
}

absl::StatusOr<std::vector<bool>> FindPrelinked(const std::vector<PrelinkCandidate>& inputs,
                                                const std::vector<std::string_view>& prelinked_ids,
                                                std::string_view working_directory) {
  base::HashSet<absl::string_view> linked_before;
  const auto add = [&](const std::vector<std::string_view>& ids) {
    for (const std::string_view id : ids) linked_before.insert(base::ToAbsl(id));
  };
  add(prelinked_ids);
  for (const PrelinkCandidate& input : inputs) {
    if (input.ids == nullptr) continue;
    if (input.ids->mixed)
      return absl::InvalidArgumentError(base::ToAbsl(format::nvlink_text::kUnexpectedModuleIds));
    add(input.ids->prelinked);
  }
  std::vector<bool> out(inputs.size());
  if (linked_before.empty()) return out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ModuleIds* ids = inputs[i].ids;
    if (ids != nullptr && !ids->prelinked.empty()) {
      out[i] = true;
    } else if (ids != nullptr && !ids->own.empty()) {
      out[i] = linked_before.contains(base::ToAbsl(ids->own.front()));
    } else {
      out[i] = linked_before.contains(MakeModuleId(working_directory, inputs[i].name));
    }
  }
  return out;
}

bool KeepRegisterFile(const std::optional<std::string>& existing, bool dropped_cudadevrt) {
  if (!existing.has_value()) return false;
  return dropped_cudadevrt || existing->find("_cuda_device_runtime_") != std::string::npos;
}

}  // namespace devlink::internal
