// SPDX-License-Identifier: Apache-2.0
#include "command/time_table.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace devlink::internal {

absl::StatusOr<TimeTable> TimeTable::Open(const std::string& path,
                                          std::function<void(std::string_view text)> out) {
  TimeTable table;
  if (path == "-") {
    table.out_ = std::move(out);
    return table;
  }
  constexpr mode_t kMode = 0666;
  table.file_ =
      base::Descriptor(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode));
  if (!table.file_.open()) {
    return absl::InvalidArgumentError(base::Cat({"Cannot open file '", path, "'"}));
  }
  return table;
}

void TimeTable::Append(std::span<const CompilerRun> runs, std::string_view target) {
  struct stat about = {};
  const bool is_new = !file_.open() || (fstat(file_.get(), &about) == 0 && about.st_size == 0);
  std::string text = is_new ? "source file name , phase name , phase input files , "
                              "phase output file , arch , tool, metric , unit\n"
                            : "";
  for (const CompilerRun& run : runs) {
    const std::chrono::duration<double, std::milli> time = run.time;
    text +=
        absl::StrFormat("%s , %s , %s , %s , %s , nvlink , %.4f , ms\n", run.source, run.compiler,
                        run.input, run.output, base::ToAbsl(target), time.count());
  }
  if (out_) out_(text);
  std::string_view rest = text;
  while (file_.open() && !rest.empty()) {
    const ssize_t written = write(file_.get(), rest.data(), rest.size());
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace devlink::internal
