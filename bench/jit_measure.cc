// SPDX-License-Identifier: Apache-2.0
#include "jit_measure.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "elf_values.h"

namespace devlink::bench {

namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::int64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t pages = 0;
  in >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

std::int64_t PeakBytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

// The links of one process.
class Measuring {
 public:
  Measuring(const JitCase& what, const JitRun& run)
      : what_(what), run_(run), inputs_(ReadInputs(what)), start_(run.threads) {
    for (const NamedBytes& input : inputs_) values_.push_back(PlaceOfInitialValues(input.bytes));
    times_.resize(run.threads);
    for (auto& times : times_) times.reserve(std::size_t{1} << 16);
  }

  JitResult Run(const LinkerChoice& choice, const ToolPlaces& places) {
    const std::int64_t before = ResidentBytes();
    const auto begin = Clock::now();
    linker_ = OpenLinker(choice, what_, places);
    result_.loading = MillisecondsSince(begin);
    if (linker_ == nullptr) {
      result_.state = JitResult::State::kCannotOpen;
      return result_;
    }
    result_.is_devlink = linker_->is_devlink();
    std::vector<std::thread> others;
    for (unsigned thread = 1; thread < run_.threads; ++thread) {
      others.emplace_back([this, thread] { Work(thread); });
    }
    Work(0);
    for (std::thread& other : others) other.join();
    result_.grown = ResidentBytes() - settled_;
    result_.peak = PeakBytes() - before;
    result_.state = is_wrong_ ? JitResult::State::kWrongResult : JitResult::State::kOk;
    TakeTimes();
    return result_;
  }

 private:
  // Inputs of a thread's own where they change.
  void Link(std::vector<NamedBytes>& inputs, std::uint64_t number) {
    if (what_.changes) {
      const auto value = static_cast<std::uint32_t>(number);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (values_[i] != 0) std::memcpy(&inputs[i].bytes[values_[i]], &value, sizeof value);
      }
    }
    if (linker_->Link(what_.changes ? inputs : inputs_) == what_.fails) is_wrong_ = true;
  }

  void Work(unsigned thread) {
    std::vector<NamedBytes> own;
    if (what_.changes) own = inputs_;
    start_.arrive_and_wait();
    const auto begin = Clock::now();
    Link(own, ++started_);
    start_.arrive_and_wait();
    if (thread == 0) {
      result_.first = MillisecondsSince(begin);
      settled_ = ResidentBytes();
      second_ = Clock::now();
    }
    start_.arrive_and_wait();
    run_.links != 0 ? Count(own) : TakeTime(own, times_[thread]);
    start_.arrive_and_wait();
    if (thread == 0) seconds_ = MillisecondsSince(second_) / 1000;
  }

  void Count(std::vector<NamedBytes>& own) {
    const std::uint64_t settling = std::max<std::uint64_t>(run_.links / 10, run_.threads + 1);
    for (std::uint64_t number = ++started_; number <= run_.links; number = ++started_) {
      Link(own, number);
      ++done_;
      if (number == settling) settled_ = ResidentBytes();
    }
  }

  void TakeTime(std::vector<NamedBytes>& own, std::vector<double>& times) {
    constexpr std::size_t kLeast = 2;
    while (times.size() < kLeast || MillisecondsSince(second_) < run_.seconds * 1000) {
      const auto begin = Clock::now();
      Link(own, ++started_);
      times.push_back(MillisecondsSince(begin));
      ++done_;
    }
  }

  void TakeTimes() {
    result_.links = done_;
    if (seconds_ > 0) result_.links_per_second = static_cast<double>(done_) / seconds_;
    std::vector<double> all;
    for (const auto& times : times_) all.insert(all.end(), times.begin(), times.end());
    if (all.empty()) return;
    std::sort(all.begin(), all.end());
    result_.least = all.front();
    result_.median = all[all.size() / 2];
  }

  const JitCase& what_;
  const JitRun& run_;
  std::vector<NamedBytes> inputs_;
  std::vector<std::size_t> values_;  // PlaceOfInitialValues of each input
  std::unique_ptr<JitLinker> linker_;
  std::barrier<> start_;
  std::atomic<std::uint64_t> started_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::int64_t> settled_ = 0;
  std::atomic<bool> is_wrong_ = false;
  std::vector<std::vector<double>> times_;
  Clock::time_point second_;  // when all had linked once
  double seconds_ = 0;
  JitResult result_;
};

}  // namespace

JitResult MeasureJit(const LinkerChoice& choice, const JitCase& what, const ToolPlaces& places,
                     const JitRun& run) {
  JitResult result;
  int ends[2];
  if (pipe(ends) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    // Not freed: the process ends here, and what libraries do when they are unloaded is not ours.
    auto* const measuring = new Measuring(what, run);
    const JitResult measured = measuring->Run(choice, places);
    const ssize_t written = write(ends[1], &measured, sizeof measured);
    _exit(written == sizeof measured ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &result, sizeof result) != sizeof result) result = {};
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return result;
}

}  // namespace devlink::bench
