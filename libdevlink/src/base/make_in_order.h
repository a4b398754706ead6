// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/workers.h"
#include "devlink/environment.h"

namespace devlink::base {

// Pieces that several workers make and that the calling thread takes one after the other.
template <typename Piece>
class PieceLine {
 public:
  using Make = absl::FunctionRef<void(std::size_t, Piece&)>;
  using Take = absl::FunctionRef<absl::Status(std::size_t, Piece&)>;

  PieceLine(std::size_t count, std::size_t at_a_time, Make make, Take take)
      : count_(count), make_(make), take_(take), slots_(at_a_time) {}

  void Work(unsigned worker) {
    std::unique_lock lock(mutex_);
    worker == 0 ? TakeAll(lock) : MakeMany(lock);
  }

  // When all workers have returned. What a piece threw is thrown on.
  absl::Status Finish() {
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
    return status_;
  }

 private:
  struct Slot {
    Piece piece;
    bool is_made = false;
  };

  Slot& SlotOf(std::size_t piece) { return slots_[piece % slots_.size()]; }
  [[nodiscard]] bool HasSlot() const { return claimed_ - taken_ < slots_.size(); }
  [[nodiscard]] bool AllClaimed() const { return ended_ || claimed_ == count_; }

  void TakeAll(std::unique_lock<std::mutex>& lock) {
    takes_ = true;
    while (!ended_ && taken_ < count_) {
      if (Slot& slot = SlotOf(taken_); slot.is_made) {
        TakeNext(slot, lock);
      } else if (!AllClaimed() && HasSlot()) {
        MakeNext(lock);
      } else {
        changed_.wait(lock);
      }
    }
    ended_ = true;
    changed_.notify_all();
  }

  // Leaves the rest to whoever takes, where that has not begun and may wait for this worker to end.
  void MakeMany(std::unique_lock<std::mutex>& lock) {
    while (!AllClaimed()) {
      if (HasSlot()) {
        MakeNext(lock);
      } else if (takes_) {
        changed_.wait(lock);
      } else {
        return;
      }
    }
  }

  void MakeNext(std::unique_lock<std::mutex>& lock) {
    const std::size_t piece = claimed_++;
    Slot& slot = SlotOf(piece);
    Outside(lock, [&] { make_(piece, slot.piece); });
    slot.is_made = true;
    changed_.notify_all();
  }

  void TakeNext(Slot& slot, std::unique_lock<std::mutex>& lock) {
    absl::Status status;
    Outside(lock, [&] { status = take_(taken_, slot.piece); });
    slot.is_made = false;
    ++taken_;
    if (!status.ok()) {
      status_ = status;
      ended_ = true;
    }
    changed_.notify_all();
  }

  template <typename Job>
  void Outside(std::unique_lock<std::mutex>& lock, const Job& job) {
    lock.unlock();
    std::exception_ptr thrown;
    try {
      job();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown == nullptr) return;
    if (thrown_ == nullptr) thrown_ = thrown;
    ended_ = true;
  }

  const std::size_t count_;
  const Make make_;
  const Take take_;
  std::mutex mutex_;  // of all below, but for pieces while they are made or taken
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::size_t claimed_ = 0;
  std::size_t taken_ = 0;
  bool takes_ = false;
  bool ended_ = false;
  absl::Status status_;
  std::exception_ptr thrown_;
};

// Calls make(i, piece) for 0 to count - 1 on `workers` workers, and take(i, piece) for each of them
// in order, on the calling thread only. Of two pieces for each worker one is taken, or waits to be,
// while another is made; they are used again and again. The first error of `take` ends it and is
// returned; what `make` or `take` throws ends it and is thrown on.
template <typename Piece>
absl::Status MakeInOrder(const Environment& environment, unsigned workers, std::size_t count,
                         typename PieceLine<Piece>::Make make,
                         typename PieceLine<Piece>::Take take) {
  PieceLine<Piece> line(count, std::size_t{2} * std::max(workers, 1U), make, take);
  RunWorkers(environment, workers, [&](unsigned worker) { line.Work(worker); });
  return line.Finish();
}

}  // namespace devlink::base
