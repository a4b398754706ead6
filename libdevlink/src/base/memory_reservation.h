// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/environment.h"

namespace devlink::base {

// Leave to use memory, given back with the object. Move-only.
class MemoryReservation {
 public:
  // ResourceExhausted where `environment`, which is borrowed, refuses.
  static absl::StatusOr<MemoryReservation> Make(const Environment& environment,
                                                std::uint64_t bytes) {
    absl::Status status = environment.ReserveMemory(bytes);
    if (!status.ok()) return status;
    return MemoryReservation(environment, bytes);
  }

  MemoryReservation() = default;
  MemoryReservation(MemoryReservation&& other) noexcept
      : environment_(std::exchange(other.environment_, nullptr)), bytes_(other.bytes_) {}
  MemoryReservation& operator=(MemoryReservation&& other) noexcept {
    std::swap(environment_, other.environment_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryReservation() {
    if (environment_ != nullptr) environment_->ReleaseMemory(bytes_);
  }

 private:
  MemoryReservation(const Environment& environment, std::uint64_t bytes)
      : environment_(&environment), bytes_(bytes) {}

  const Environment* environment_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace devlink::base
