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

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/memory_reservation.h"
#include "devlink/environment.h"

namespace devlink::base {

// What a job of so many bytes takes: `least`, and `per_byte` for each; at most the largest number.
std::uint64_t EstimateMemory(std::uint64_t bytes, std::uint64_t least, std::uint64_t per_byte);

// Several workers take the largest jobs first, so that none of them is left alone with one at the
// end; a single one takes them as they stand, so that a failure ends its work at once. `order` has
// places in `sizes`.
void LargestFirst(std::span<const std::uint64_t> sizes, std::vector<std::size_t>& order);

// Hands jobs out to the workers of one call, as memory allows, and none that stands behind one that
// failed: what comes of it is then the same for any number of workers.
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

  // Has all jobs run by so many workers of the environment's, once. `run` says whether a job went
  // well, on any of their threads; it comes back whatever happens, since others wait for it.
  // `report` hears, on the caller's thread, how many are done. Returns how many jobs there are up
  // to the first that failed or was dropped.
  std::size_t RunAll(unsigned workers, absl::FunctionRef<bool(const Grant& grant)> run,
                     absl::FunctionRef<void(std::size_t done)> report);

 private:
  // The next job, or nothing where there is none. Waits for memory as long as other jobs run.
  std::optional<Grant> Take();
  void Done(Grant grant, bool ok);
  [[nodiscard]] std::size_t done();
  // Waits until more than `seen` jobs are done, and says how many; `seen` itself where no job runs
  // any more. Only for when there are no more jobs to take.
  std::size_t WaitForMore(std::size_t seen);
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
