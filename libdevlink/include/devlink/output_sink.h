// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/output_sink.h
//
// Where a file goes that is never whole in memory.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"

namespace devlink {

// Takes a file from its first byte to its last. All calls come from the thread that writes; an
// error ends the writing and is what the writer returns. What was appended until then is no file:
// a sink that keeps files writes to a temporary one and renames it when the writer has returned.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // Called once, before anything is appended, with the size of the file in bytes.
  virtual absl::Status Begin(std::uint64_t size) = 0;
  // The next bytes of the file. They are valid during the call only.
  virtual absl::Status Append(std::span<const std::uint8_t> bytes) = 0;
};

}  // namespace devlink
