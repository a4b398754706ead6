// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "base/memory_reservation.h"
#include "devlink/environment.h"

namespace devlink::base {

// Several workers take the largest jobs first, so that none of them is left alone with one at the
// end; a single one takes them as they stand, so that a failure ends its work at once. `order` has
// places in `sizes`.
void LargestFirst(std::span<const std::uint64_t> sizes, std::vector<std::size_t>& order);

// Hands jobs out to the workers of one call, as memory allows, and none that stands behind one that
// failed: what comes of it is then the same for any number of workers. Thread-safe.
class JobQueue {
 public:
  // A job that a worker may run, or why it must not.
  struct Grant {
    std::size_t job = 0;
    absl::StatusOr<MemoryReservation> memory;
  };

  // `estimates` has the memory that each job takes; `order` the jobs that have to be run, in the
  // order in which they are handed out. The environment is borrowed.
  JobQueue(std::vector<std::uint64_t> estimates, std::vector<std::size_t> order,
           std::uint64_t budget, const Environment& environment, std::stop_token stop);

  // The next job, or nothing where there is none. Waits for memory as long as other jobs run.
  std::optional<Grant> Take();
  void Done(Grant grant, bool ok);

  [[nodiscard]] std::size_t done();
  // Waits until more than `seen` jobs are done, and says how many; `seen` itself where no job runs
  // any more. Only for when there are no more jobs to take.
  std::size_t WaitForMore(std::size_t seen);

  // Jobs up to the first that failed or was dropped; only when all workers are done.
  [[nodiscard]] std::size_t end() const { return end_; }

 private:
  // One that is larger than the whole budget runs alone.
  [[nodiscard]] std::uint64_t Need(std::size_t job) const;
  void DropTheRest();

  const std::vector<std::uint64_t> estimates_;
  const std::vector<std::size_t> order_;
  const Environment& environment_;
  const std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t free_;
  const std::uint64_t budget_;
  std::size_t next_ = 0;  // in the order
  std::size_t running_ = 0;
  std::size_t done_;
  std::size_t end_;
};

}  // namespace devlink::base
