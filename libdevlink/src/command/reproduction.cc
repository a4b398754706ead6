// SPDX-License-Identifier: Apache-2.0
#include "command/reproduction.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "command/output_file.h"
#include "command/tar.h"
#include "command/words.h"
#include "devlink/version.h"

namespace devlink::internal {

namespace {

namespace fs = std::filesystem;

class Reproduction {
 public:
  Reproduction(const NvlinkCommand& command, const CommandContext& context)
      : command_(command),
        folder_(context.working_directory.empty() ? "/" : context.working_directory),
        file_(command.reproduce),
        // What it unpacks to is called as the archive is.
        name_(fs::path(command.reproduce).stem().string()) {}

  absl::Status Write(std::span<const std::string> files, const std::vector<std::string>& libraries,
                     const Environment& environment) {
    DEVLINK_RETURN_IF_ERROR(file_.Begin(0));
    DEVLINK_RETURN_IF_ERROR(Add("link.sh", Script(libraries), /*executable=*/true));
    DEVLINK_RETURN_IF_ERROR(Add("version.txt", NvlinkVersionText(command_.options.profile)));
    std::set<std::string> there;
    for (const std::string& path : files) {
      const std::string place = PlaceOf(path);
      if (!there.insert(place).second) continue;
      const auto contents = environment.ReadFile(path, std::numeric_limits<std::uint64_t>::max());
      if (!contents.ok()) continue;  // it is gone, as far as this link is concerned
      DEVLINK_RETURN_IF_ERROR(Add(
          place, {reinterpret_cast<const char*>(contents->bytes.data()), contents->bytes.size()}));
    }
    DEVLINK_RETURN_IF_ERROR(Append(TarEnd()));
    return file_.Commit();
  }

 private:
  // Below the archive's folder.
  [[nodiscard]] std::string PlaceOf(const std::string& path) const {
    const fs::path whole = (fs::path(folder_) / path).lexically_normal();
    return "files" + whole.string();
  }

  [[nodiscard]] std::string Script(const std::vector<std::string>& libraries) const {
    std::string out = absl::StrCat(
        "#!/bin/sh\n# Made by devlink ", base::ToAbsl(Version()),
        " with --reproduce; DEVLINK names the program, nvlink takes the same words but those of "
        "two dashes.\ncd \"$(dirname \"$0\")\" || exit 1\nexec \"${DEVLINK:-devlink}\" \\\n");
    const auto add = [&out](const std::string& word) {
      out += base::Cat({"  ", ForShell(word), " \\\n"});
    };
    for (const std::string& word : command_.words) add(word);
    if (command_.host_file) add("-nv-host=" + PlaceOf(*command_.host_file));
    if (command_.index_file) add("-uidx=" + PlaceOf(*command_.index_file));
    if (command_.retained_symbols_file) {
      add("--retain-symbols-file=" + PlaceOf(*command_.retained_symbols_file));
    }
    add("-o");
    add("out.cubin");
    for (const std::string& input : command_.inputs) add(PlaceOf(input));
    for (const std::string& library : libraries) add(PlaceOf(library));
    return out + "  \"$@\"\n";
  }

  absl::Status Append(std::string_view bytes) {
    return file_.Append({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
  absl::Status Add(const std::string& name, std::string_view bytes, bool executable = false) {
    DEVLINK_RETURN_IF_ERROR(
        Append(TarHeader(base::Cat({name_, "/", name}), bytes.size(), executable)));
    DEVLINK_RETURN_IF_ERROR(Append(bytes));
    return Append(TarPadding(bytes.size()));
  }

  const NvlinkCommand& command_;
  const std::string folder_;
  OutputFile file_;
  const std::string name_;
};

}  // namespace

absl::Status WriteReproduction(const NvlinkCommand& command, const CommandContext& context,
                               std::span<const std::string> files,
                               const std::vector<std::string>& libraries,
                               const Environment& environment) {
  return Reproduction(command, context).Write(files, libraries, environment);
}

}  // namespace devlink::internal
