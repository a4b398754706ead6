// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "devlink/sinks.h"

namespace devlink::testing {

// Keeps what it is given, and fails behind `limit` pieces.
class RecordingSink final : public OutputSink {
 public:
  explicit RecordingSink(std::size_t limit = std::numeric_limits<std::size_t>::max())
      : limit_(limit) {}

  void Expect(std::uint64_t about) override {
    expected = about;
    ++expectations;
    expected_too_late |= begun > 0;
  }
  absl::Status Begin(std::uint64_t size) override {
    is_callers &= std::this_thread::get_id() == caller_;
    announced = size;
    ++begun;
    return absl::OkStatus();
  }
  absl::Status Append(std::span<const std::uint8_t> piece) override {
    is_callers &= std::this_thread::get_id() == caller_;
    if (pieces == limit_) return absl::DataLossError("full");
    ++pieces;
    largest = std::max(largest, piece.size());
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return absl::OkStatus();
  }

  std::vector<std::uint8_t> bytes;
  std::uint64_t expected = 0;
  std::size_t expectations = 0;
  bool expected_too_late = false;
  std::uint64_t announced = 0;
  std::size_t begun = 0;
  bool is_callers = true;  // begun and appended to on the thread that made it
  std::size_t pieces = 0;
  std::size_t largest = 0;  // of them

 private:
  std::size_t limit_;
  std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace devlink::testing
