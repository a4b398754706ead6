// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "absl/status/status.h"

namespace devlink::base {

// The status of what was stopped.
inline absl::Status Stopped() { return absl::CancelledError("the caller asked to stop"); }

// Stopped() where stopping was asked for. Asked between steps that take a while.
inline absl::Status CheckStop(const std::stop_token& stop) {
  return stop.stop_requested() ? Stopped() : absl::OkStatus();
}

}  // namespace devlink::base
