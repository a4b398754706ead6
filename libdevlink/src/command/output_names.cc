// SPDX-License-Identifier: Apache-2.0
#include "command/output_names.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/strings.h"

namespace devlink::internal {

namespace {

namespace fs = std::filesystem;

struct NamedOutput {
  std::string_view option;
  std::string path;
  bool is_ours = false;  // nvlink has no such option
};

std::vector<NamedOutput> OutputsOf(const NvlinkCommand& command) {
  std::vector<NamedOutput> out;
  const auto add = [&out](std::string_view option, const std::string& path, bool is_ours) {
    if (!path.empty()) out.push_back({option, path, is_ours});
  };
  add("-o", command.output, false);
  if (command.register_file) add("--register-link-binaries", *command.register_file, false);
  if (command.dot_file) add("-dot", *command.dot_file, false);
  if (command.time_table && *command.time_table != "-") add("-time", *command.time_table, false);
  add("--report", command.report, true);
  add("--map", command.map, true);
  add("--dependency-file", command.dependency_file, true);
  add("--reproduce", command.reproduce, true);
  add("--time-trace", command.time_trace, true);
  return out;
}

// One file, whether or not it is there yet. Not what keeps nothing, or whatever is written to it.
bool IsOneFile(const std::string& one, const std::string& other) {
  std::error_code error;
  if (fs::exists(one, error)) {
    return fs::is_regular_file(one, error) && fs::equivalent(one, other, error) && !error;
  }
  const auto whole = [&error](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, error), error);
  };
  return whole(one) == whole(other) && !error;
}

absl::Status IsTwice(const NamedOutput& one, std::string_view what) {
  return absl::InvalidArgumentError(
      base::Cat({one.option, " '", one.path, "' is the file of ", what, ", too"}));
}

}  // namespace

absl::Status CheckOutputNames(const NvlinkCommand& command) {
  const std::vector<NamedOutput> outputs = OutputsOf(command);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_ours) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (IsOneFile(outputs[i].path, outputs[j].path))
        return IsTwice(outputs[i], outputs[j].option);
    }
  }
  return CheckOutputsOverInputs(command, command.inputs);
}

absl::Status CheckOutputsOverInputs(const NvlinkCommand& command,
                                    std::span<const std::string> paths) {
  for (const NamedOutput& output : OutputsOf(command)) {
    if (!output.is_ours) continue;
    for (const std::string& path : paths) {
      if (IsOneFile(output.path, path)) {
        return IsTwice(output, base::Cat({"the input '", path, "'"}));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
