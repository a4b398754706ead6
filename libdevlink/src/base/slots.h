// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace devlink::base {

// Bounds how many do something at a time. Thread-safe.
class Slots {
 public:
  // 0 counts as 1.
  explicit Slots(unsigned slots) : free_(std::max(slots, 1U)) {}
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  // Given back when it ends; it must end before the slots do. Holds nothing where the wait for it
  // was stopped.
  class Slot {
   public:
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_ != nullptr) slots_->GiveBack();
    }
    [[nodiscard]] bool taken() const { return slots_ != nullptr; }

   private:
    friend class Slots;
    explicit Slot(Slots* slots) : slots_(slots) {}
    Slots* slots_;
  };

  // Waits until one is free, or `stop` is asked to.
  [[nodiscard]] Slot Take(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return free_ > 0; })) return Slot(nullptr);
    --free_;
    return Slot(this);
  }

 private:
  void GiveBack() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  unsigned free_;
};

}  // namespace devlink::base
