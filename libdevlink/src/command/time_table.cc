// SPDX-License-Identifier: Apache-2.0
#include "command/time_table.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "command/output_file.h"

namespace devlink::internal {

absl::StatusOr<TimeTable> TimeTable::Open(const std::string& path,
                                          std::function<void(std::string_view text)> out) {
  TimeTable table(path);
  if (path == "-") {
    table.out_ = std::move(out);
    return table;
  }
  constexpr mode_t kNewFileMode = 0666;
  table.file_ =
      base::Descriptor(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kNewFileMode));
  if (!table.file_.open()) {
    return absl::InvalidArgumentError(base::Cat({"Cannot open file '", path, "'"}));
  }
  return table;
}

absl::Status TimeTable::Append(std::span<const CompilerRun> runs, std::string_view target) {
  struct stat about = {};
  const bool is_new = !file_.open() || (fstat(file_.get(), &about) == 0 && about.st_size == 0);
  std::string text = is_new ? "source file name , phase name , phase input files , "
                              "phase output file , arch , tool, metric , unit\n"
                            : "";
  for (const CompilerRun& run : runs) {
    const std::chrono::duration<double, std::milli> time = run.time;
    text +=
        absl::StrFormat("%s , %s , %s , %s , %s , nvlink , %.4f , ms\n",
                        base::VisibleText(run.source), run.compiler, base::VisibleText(run.input),
                        base::VisibleText(run.output), base::ToAbsl(target), time.count());
  }
  if (out_) out_(text);
  if (!file_.open() || base::WriteAll(file_.get(), text)) return absl::OkStatus();
  return CouldNotWrite(path_, errno);
}

}  // namespace devlink::internal
