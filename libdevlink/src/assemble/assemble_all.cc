// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "base/memory_reservation.h"
#include "base/stop.h"
#include "base/workers.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink {

namespace {

// The most memory that assembling a text of this size was seen to take, in bytes. Measured with
// ptxas and nvPTXCompiler 13.0 on texts from 500 bytes to 14 MB: 22 to 25 MiB for the assembler
// itself, and from 27 bytes per byte of text (thousands of small functions) to 100 (one large
// function).
std::uint64_t EstimateMemory(std::uint64_t text_bytes) {
  constexpr std::uint64_t kBase = std::uint64_t{25} << 20;
  constexpr std::uint64_t kPerByte = 100;
  const std::uint64_t most = ~std::uint64_t{0};
  return text_bytes > (most - kBase) / kPerByte ? most : kBase + kPerByte * text_bytes;
}

// A job that a worker may run, or why it must not.
struct Grant {
  std::size_t job = 0;
  absl::StatusOr<base::MemoryReservation> memory;
};

// Hands jobs out, as memory allows, and none that stands behind one that failed.
class Queue {
 public:
  // `order` are the jobs that have to be run, in the order in which they are handed out.
  Queue(std::span<const PtxJob> jobs, std::vector<std::size_t> order, bool elsewhere,
        std::uint64_t budget, const Environment& environment, std::stop_token stop)
      : jobs_(jobs),
        order_(std::move(order)),
        elsewhere_(elsewhere),
        environment_(environment),
        stop_(std::move(stop)),
        free_(budget),
        budget_(budget),
        done_(jobs.size() - order_.size()),
        end_(jobs.size()) {}

  // The next job, or nothing where there is none. Waits for memory as long as other jobs run.
  std::optional<Grant> Take() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stop_.stop_requested()) DropTheRest();
      while (next_ < order_.size() && order_[next_] >= end_) ++next_;
      if (next_ == order_.size()) return std::nullopt;
      const std::size_t job = order_[next_];
      if (Need(job) <= free_) {
        auto memory = base::MemoryReservation::Make(environment_, Estimate(job));
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

  void Done(Grant grant, bool ok) {
    const std::lock_guard lock(mutex_);
    grant.memory = base::MemoryReservation();
    free_ += Need(grant.job);
    --running_;
    ++done_;
    // What comes of the jobs before it still counts.
    if (!ok) end_ = std::min(end_, grant.job + 1);
    changed_.notify_all();
  }

  [[nodiscard]] std::size_t done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  // Waits until more than `seen` jobs are done, and says how many; `seen` itself where no job runs
  // any more. Only for when there are no more jobs to take.
  std::size_t WaitForMore(std::size_t seen) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ != seen || running_ == 0; });
    return done_;
  }

  // Jobs up to the first that failed or was dropped; only when all workers are done.
  [[nodiscard]] std::size_t end() const { return end_; }

 private:
  [[nodiscard]] std::uint64_t Estimate(std::size_t job) const {
    return elsewhere_ ? 0 : EstimateMemory(jobs_[job].text.size());
  }
  // One that is larger than the whole budget runs alone.
  [[nodiscard]] std::uint64_t Need(std::size_t job) const {
    return std::min(budget_, Estimate(job));
  }

  void DropTheRest() {
    for (; next_ < order_.size(); ++next_) end_ = std::min(end_, order_[next_] + 1);
  }

  std::span<const PtxJob> jobs_;
  const std::vector<std::size_t> order_;
  const bool elsewhere_;  // other machines have the memory
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

// Tells the caller's sink, from the caller's thread.
class Progress {
 public:
  Progress(std::span<const PtxJob> jobs, ProgressSink* sink) : jobs_(jobs), sink_(sink) {}

  void Report(std::size_t done) const {
    if (sink_ == nullptr || jobs_.empty()) return;
    ProgressEvent event{.phase = LinkPhase::kAssembling,
                        .done = static_cast<std::uint32_t>(done),
                        .total = static_cast<std::uint32_t>(jobs_.size())};
    if (done < jobs_.size()) event.subject = jobs_[done].name;
    sink_->Report(event);
  }

 private:
  std::span<const PtxJob> jobs_;
  ProgressSink* sink_;
};

// Several workers take the longest texts first, so that none of them is left alone with one at the
// end; a single one takes them as they stand, so that a failure ends its work at once.
void LongestFirst(std::span<const PtxJob> jobs, std::vector<std::size_t>& order) {
  std::sort(order.begin(), order.end(), [jobs](std::size_t a, std::size_t b) {
    const std::size_t size_a = jobs[a].text.size();
    const std::size_t size_b = jobs[b].text.size();
    return size_a != size_b ? size_a > size_b : a < b;
  });
}

PtxResult RunJob(const PtxAssembler& assembler, const PtxJob& job, const Grant& grant,
                 const Environment& environment, const std::stop_token& stop) {
  if (!grant.memory.ok()) return {.status = grant.memory.status()};
  PtxResult result;
  const std::uint64_t begin = environment.NowNanoseconds();
  // A worker that does not come back from its job leaves the others waiting.
  absl::Status ended = base::Guard([&] {
    if (job.stop.stop_possible() || !stop.stop_possible()) {
      result = assembler.Assemble(job);
    } else {
      PtxJob stoppable = job;
      stoppable.stop = stop;
      result = assembler.Assemble(stoppable);
    }
    return absl::OkStatus();
  });
  if (!ended.ok()) result.status = std::move(ended);
  result.time = std::chrono::nanoseconds(environment.NowNanoseconds() - begin);
  return result;
}

}  // namespace

unsigned PtxAssembler::jobs_elsewhere() const { return 0; }

std::optional<PtxResult> PtxAssembler::Find(const PtxJob& /*job*/) const { return std::nullopt; }

std::vector<PtxResult> AssembleAll(const PtxAssembler& assembler, std::span<const PtxJob> jobs,
                                   const ParallelOptions& options, ProgressSink* sink,
                                   const Environment& environment) {
  const std::stop_token stop = environment.StopToken();
  const Progress progress(jobs, sink);
  progress.Report(0);

  std::vector<PtxResult> results(jobs.size());
  std::vector<std::size_t> unknown;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    // A cache on a server may take its time.
    auto known = stop.stop_requested() ? std::nullopt : assembler.Find(jobs[job]);
    if (known.has_value()) {
      results[job] = *std::move(known);
    } else {
      // Stays so for a job that is dropped when stopping is asked for.
      results[job].status = base::Stopped();
      unknown.push_back(job);
    }
  }

  const unsigned elsewhere = assembler.jobs_elsewhere();
  const unsigned workers =
      base::WorkersFor(unknown.size(), elsewhere != 0 ? elsewhere : options.threads, environment);
  if (workers > 1) LongestFirst(jobs, unknown);
  std::size_t reported = jobs.size() - unknown.size();
  if (reported > 0) progress.Report(reported);
  if (workers == 0) return results;

  Queue queue(jobs, std::move(unknown), elsewhere != 0, options.memory_budget, environment, stop);
  const auto work = [&](unsigned worker) {
    while (auto grant = queue.Take()) {
      PtxResult& result = results[grant->job];
      result = RunJob(assembler, jobs[grant->job], *grant, environment, stop);
      queue.Done(*std::move(grant), result.status.ok());
      if (worker == 0) progress.Report(reported = queue.done());
    }
    if (worker != 0) return;
    for (std::size_t done; (done = queue.WaitForMore(reported)) != reported; reported = done) {
      progress.Report(done);
    }
  };
  if (workers == 1) {
    work(0);
  } else {
    environment.RunWorkers(workers, work);
  }
  results.resize(queue.end());
  return results;
}

}  // namespace devlink
