// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "devlink/sinks.h"

namespace devlink::internal {

// A file that is there whole or not at all: it is written beside `path` and renamed by Commit; what
// was not committed is removed. Devices and pipes, which cannot be renamed onto, are written
// directly. Every error is Unavailable, in nvlink's words.
class OutputFile final : public OutputSink {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Begin(std::uint64_t size) override;
  absl::Status Append(std::span<const std::uint8_t> bytes) override;
  absl::Status Commit();

 private:
  [[nodiscard]] absl::Status Failed() const;

  std::string path_;
  std::string temporary_;  // empty: none
  std::FILE* file_ = nullptr;
};

// A whole file at once, in the same way.
absl::Status WriteTextFile(const std::string& path, std::string_view text);

}  // namespace devlink::internal
