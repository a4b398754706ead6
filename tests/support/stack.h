// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "devlink/sinks.h"

namespace devlink::testing {

// Fills what functions that have returned left on the stack, before the output is written. An
// output that still borrows any of it comes out wrong.
class StackOverwriter : public ProgressSink {
 public:
  void Report(const ProgressEvent& event) override {
    if (event.phase != LinkPhase::kWriting) return;
    std::array<volatile std::uint8_t, 1 << 16> bytes;
    for (volatile std::uint8_t& byte : bytes) byte = 0xa5;
  }
};

}  // namespace devlink::testing
