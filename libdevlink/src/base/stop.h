// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "absl/status/status.h"

namespace devlink::base {

// Cancelled where stopping was asked for. Asked between steps that take a while.
inline absl::Status CheckStop(const std::stop_token& stop) {
  if (!stop.stop_requested()) return absl::OkStatus();
  return absl::CancelledError("the caller asked to stop");
}

}  // namespace devlink::base
