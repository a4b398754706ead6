// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "base/job_queue.h"
#include "base/stop.h"
#include "base/workers.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink {

namespace {

// The most memory that assembling a text of this size was seen to take, in bytes. Measured with
// ptxas and nvPTXCompiler 13.0 on texts from 500 bytes to 14 MB: 22 to 25 MiB for the assembler
// itself, and from 27 bytes per byte of text (thousands of small functions) to 100 (one large
// function).
std::uint64_t EstimateMemory(const PtxJob& job) {
  return base::EstimateMemory(job.text.size(), std::uint64_t{25} << 20, 100);
}

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

PtxResult RunJob(const PtxAssembler& assembler, const PtxJob& job,
                 const base::JobQueue::Grant& grant, const Environment& environment,
                 const std::stop_token& stop) {
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
  std::vector<std::uint64_t> sizes(jobs.size());
  std::transform(jobs.begin(), jobs.end(), sizes.begin(),
                 [](const PtxJob& job) { return job.text.size(); });
  if (workers > 1) base::LargestFirst(sizes, unknown);
  const std::size_t reported = jobs.size() - unknown.size();
  if (reported > 0) progress.Report(reported);
  if (workers == 0) return results;

  // Other machines have memory of their own.
  std::vector<std::uint64_t> estimates(jobs.size());
  if (elsewhere == 0) {
    std::transform(jobs.begin(), jobs.end(), estimates.begin(), EstimateMemory);
  }
  base::JobQueue queue(std::move(estimates), std::move(unknown), options.memory_budget, environment,
                       stop);
  results.resize(queue.RunAll(
      workers,
      [&](const base::JobQueue::Grant& grant) {
        results[grant.job] = RunJob(assembler, jobs[grant.job], grant, environment, stop);
        return results[grant.job].status.ok();
      },
      [&](std::size_t done) { progress.Report(done); }));
  return results;
}

}  // namespace devlink
