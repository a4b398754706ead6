// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "devlink/environment.h"

namespace devlink::base {

// Leave to use memory, asked for piece by piece while an input is read, and given back with the
// object. Spends a budget that others share, and asks the environment. Used by one thread at a
// time.
class MemoryLease {
 public:
  // The environment is borrowed.
  MemoryLease(const Environment& environment, std::shared_ptr<MemoryBudget> budget)
      : environment_(environment), budget_(std::move(budget)) {}
  MemoryLease(const MemoryLease&) = delete;
  MemoryLease& operator=(const MemoryLease&) = delete;
  ~MemoryLease() { ShrinkTo(0); }

  // ResourceExhausted where there is no leave; nothing was taken then.
  absl::Status Take(std::uint64_t bytes) {
    if (absl::Status status = budget_->Reserve(bytes); !status.ok()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          status.message(), " by the inputs (the option max_memory_bytes is the bound)"));
    }
    if (absl::Status status = environment_.ReserveMemory(bytes); !status.ok()) {
      budget_->Release(bytes);
      return status;
    }
    taken_ += bytes;
    return absl::OkStatus();
  }

  // Gives back what is more than `bytes`.
  void ShrinkTo(std::uint64_t bytes) {
    if (bytes >= taken_) return;
    budget_->Release(taken_ - bytes);
    environment_.ReleaseMemory(taken_ - bytes);
    taken_ = bytes;
  }

  [[nodiscard]] std::uint64_t taken() const { return taken_; }

  // What a single file may have at most.
  [[nodiscard]] std::uint64_t left() const { return budget_->limit() - budget_->used(); }

 private:
  const Environment& environment_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::uint64_t taken_ = 0;
};

}  // namespace devlink::base
