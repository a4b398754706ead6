// SPDX-License-Identifier: Apache-2.0
#include "base/job_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/workers.h"

namespace devlink::base {

std::uint64_t EstimateMemory(std::uint64_t bytes, std::uint64_t least, std::uint64_t per_byte) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return bytes > (kMost - least) / per_byte ? kMost : least + per_byte * bytes;
}

void LargestFirst(std::span<const std::uint64_t> sizes, std::vector<std::size_t>& order) {
  std::sort(order.begin(), order.end(), [sizes](std::size_t a, std::size_t b) {
    return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b;
  });
}

JobQueue::JobQueue(std::vector<std::uint64_t> estimates, std::vector<std::size_t> order,
                   std::uint64_t budget, const Environment& environment, std::stop_token stop)
    : estimates_(std::move(estimates)),
      order_(std::move(order)),
      environment_(environment),
      stop_(std::move(stop)),
      free_(budget),
      budget_(budget),
      done_(estimates_.size() - order_.size()),
      end_(estimates_.size()) {}

std::size_t JobQueue::RunAll(unsigned workers, absl::FunctionRef<bool(const Grant& grant)> run,
                             absl::FunctionRef<void(std::size_t done)> report) {
  std::size_t reported = done();  // of the first worker alone
  const auto work = [&](unsigned worker) {
    while (auto grant = Take()) {
      const bool ok = run(*grant);
      Done(*std::move(grant), ok);
      if (worker == 0) report(reported = done());
    }
    if (worker != 0) return;
    for (std::size_t now; (now = WaitForMore(reported)) != reported; reported = now) report(now);
  };
  RunWorkers(environment_, workers, work);
  return end_;
}

std::optional<JobQueue::Grant> JobQueue::Take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop_.stop_requested()) DropTheRest();
    while (next_ < order_.size() && order_[next_] >= end_) ++next_;
    if (next_ == order_.size()) return std::nullopt;
    const std::size_t job = order_[next_];
    if (Need(job) <= free_) {
      auto memory = MemoryReservation::Make(environment_, estimates_[job]);
      if (memory.ok() || running_ == 0) {
        free_ -= Need(job);
        ++running_;
        ++next_;
        return Grant{.job = job, .memory = std::move(memory)};
      }
    }
    changed_.wait(lock);
  }
}

void JobQueue::Done(Grant grant, bool ok) {
  const std::lock_guard lock(mutex_);
  grant.memory = MemoryReservation();
  free_ += Need(grant.job);
  --running_;
  ++done_;
  // What comes of the jobs before it still counts.
  if (!ok) end_ = std::min(end_, grant.job + 1);
  changed_.notify_all();
}

std::size_t JobQueue::done() {
  const std::lock_guard lock(mutex_);
  return done_;
}

std::size_t JobQueue::WaitForMore(std::size_t seen) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ != seen || running_ == 0; });
  return done_;
}

std::uint64_t JobQueue::Need(std::size_t job) const { return std::min(budget_, estimates_[job]); }

void JobQueue::DropTheRest() {
  for (; next_ < order_.size(); ++next_) end_ = std::min(end_, order_[next_] + 1);
}

}  // namespace devlink::base
