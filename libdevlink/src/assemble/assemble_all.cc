// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "devlink/experimental/ptx_assembler.h"

namespace devlink {

namespace {

// Hands jobs out, as memory allows, and none that stands behind one that failed.
class Queue {
 public:
  // Several threads take the longest texts first, so that none of them is left alone with one at
  // the end; a single thread takes them as they stand, so that a failure ends its work at once.
  Queue(std::span<const PtxJob> jobs, std::uint64_t budget, bool longest_first)
      : jobs_(jobs), order_(jobs.size()), free_(budget), budget_(budget), end_(jobs.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!longest_first) return;
    std::sort(order_.begin(), order_.end(), [jobs](std::size_t a, std::size_t b) {
      const std::size_t size_a = jobs[a].text.size();
      const std::size_t size_b = jobs[b].text.size();
      return size_a != size_b ? size_a > size_b : a < b;
    });
  }

  // The next job, or false where there is none. Waits for memory.
  bool Take(std::size_t& job) {
    std::unique_lock lock(mutex_);
    for (;;) {
      while (next_ < order_.size() && order_[next_] >= end_) ++next_;
      if (next_ == order_.size()) return false;
      const std::uint64_t need = Need(order_[next_]);
      if (need <= free_) {
        free_ -= need;
        ++running_;
        job = order_[next_++];
        return true;
      }
      changed_.wait(lock);
    }
  }

  void Done(std::size_t job, bool ok) {
    const std::lock_guard lock(mutex_);
    free_ += Need(job);
    --running_;
    ++done_;
    // What comes of the jobs before it still counts.
    if (!ok) end_ = std::min(end_, job + 1);
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

  // Jobs up to the first that failed; only when all threads are done.
  [[nodiscard]] std::size_t end() const { return end_; }

 private:
  // One that is larger than the whole budget runs alone.
  [[nodiscard]] std::uint64_t Need(std::size_t job) const {
    return std::min(budget_, EstimatePtxMemory(jobs_[job].text.size()));
  }

  std::span<const PtxJob> jobs_;
  std::vector<std::size_t> order_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t free_;
  std::uint64_t budget_;
  std::size_t next_ = 0;  // in the order
  std::size_t running_ = 0;
  std::size_t done_ = 0;
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

}  // namespace

std::uint64_t EstimatePtxMemory(std::uint64_t text_bytes) {
  // Measured with ptxas and nvPTXCompiler 13.0 on texts from 500 bytes to 14 MB: 22 to 25 MiB for
  // the assembler itself, and from 27 bytes per byte of text (thousands of small functions) to 100
  // (one large function).
  constexpr std::uint64_t kBase = std::uint64_t{25} << 20;
  constexpr std::uint64_t kPerByte = 100;
  const std::uint64_t most = ~std::uint64_t{0};
  return text_bytes > (most - kBase) / kPerByte ? most : kBase + kPerByte * text_bytes;
}

std::vector<PtxResult> AssembleAll(const PtxAssembler& assembler, std::span<const PtxJob> jobs,
                                   const AssembleAllOptions& options, ProgressSink* sink) {
  const std::size_t threads =
      std::clamp<std::size_t>(ThreadCount(options), 1, std::max<std::size_t>(jobs.size(), 1));
  std::vector<PtxResult> results(jobs.size());
  Queue queue(jobs, options.memory_budget, threads > 1);
  const Progress progress(jobs, sink);
  const auto work = [&](auto&& after_each) {
    for (std::size_t job = 0; queue.Take(job);) {
      results[job] = assembler.Assemble(jobs[job]);
      queue.Done(job, results[job].status.ok());
      after_each();
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  for (std::size_t i = 1; i < threads; ++i) {
    // Where the system has no more threads, the work goes on with those there are.
    try {
      helpers.emplace_back(work, [] {});
    } catch (const std::system_error&) {
      break;
    }
  }
  progress.Report(0);
  std::size_t reported = 0;
  work([&] { progress.Report(reported = queue.done()); });
  for (std::size_t done; (done = queue.WaitForMore(reported)) != reported; reported = done) {
    progress.Report(done);
  }
  for (std::thread& helper : helpers) helper.join();
  results.resize(queue.end());
  return results;
}

}  // namespace devlink
