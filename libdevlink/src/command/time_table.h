// SPDX-License-Identifier: Apache-2.0
//
// nvlink -time: a table of comma separated values, to which every link appends the runs of
// compilers that it made.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/descriptor.h"
#include "devlink/experimental/time_trace.h"

namespace devlink::internal {

class TimeTable {
 public:
  // `-` is standard output, for which `out` stands. InvalidArgument with nvlink's words where the
  // file cannot be opened.
  static absl::StatusOr<TimeTable> Open(const std::string& path,
                                        std::function<void(std::string_view text)> out);

  // In an empty file the headings come first.
  absl::Status Append(std::span<const CompilerRun> runs, std::string_view target);

 private:
  explicit TimeTable(std::string path) : path_(std::move(path)) {}

  std::string path_;
  base::Descriptor file_;
  std::function<void(std::string_view text)> out_;
};

}  // namespace devlink::internal
