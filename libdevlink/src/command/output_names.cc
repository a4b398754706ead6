// SPDX-License-Identifier: Apache-2.0
#include "command/output_names.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
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

// A path without links and dots; nothing where that cannot be said.
std::optional<fs::path> Whole(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return std::nullopt;
  fs::path whole = fs::weakly_canonical(absolute, error);
  if (error) return std::nullopt;
  return whole;
}

// A file that is written to, whether or not it is there yet.
class OutputPlace {
 public:
  explicit OutputPlace(const std::string& path) : is_there_(stat(path.c_str(), &file_) == 0) {
    if (!is_there_) whole_ = Whole(path);
  }

  // Whether another path leads to it. Not to what keeps nothing, or whatever is written to it.
  [[nodiscard]] bool IsAt(const std::string& path) const {
    struct stat other{};
    if (stat(path.c_str(), &other) == 0) {
      return is_there_ && S_ISREG(file_.st_mode) && other.st_dev == file_.st_dev &&
             other.st_ino == file_.st_ino;
    }
    return whole_.has_value() && whole_ == Whole(path);
  }

 private:
  struct stat file_{};
  bool is_there_;
  std::optional<fs::path> whole_;  // of what is not there
};

absl::Status IsTwice(const NamedOutput& one, std::string_view what) {
  return absl::InvalidArgumentError(
      base::Cat({one.option, " '", one.path, "' is the file of ", what, ", too"}));
}

}  // namespace

absl::Status CheckOutputNames(const NvlinkCommand& command) {
  const std::vector<NamedOutput> outputs = OutputsOf(command);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_ours) continue;
    const OutputPlace place(outputs[i].path);
    for (std::size_t j = 0; j < i; ++j) {
      if (place.IsAt(outputs[j].path)) return IsTwice(outputs[i], outputs[j].option);
    }
  }
  return CheckOutputsOverInputs(command, command.inputs);
}

absl::Status CheckOutputsOverInputs(const NvlinkCommand& command,
                                    std::span<const std::string> paths) {
  for (const NamedOutput& output : OutputsOf(command)) {
    if (!output.is_ours) continue;
    const OutputPlace place(output.path);
    for (const std::string& path : paths) {
      if (place.IsAt(path)) {
        return IsTwice(output, base::Cat({"the input '", path, "'"}));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
