// SPDX-License-Identifier: Apache-2.0
//
// An environment of a test's own: files in memory, faults on request, and a count of what was
// asked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "devlink/environment.h"

namespace devlink::testing {

// Ways to run workers that are allowed, and not what anyone would expect.
using Executor = std::function<void(unsigned workers, const std::function<void(unsigned)>& work)>;
inline std::map<std::string, Executor> OddExecutors() {
  const auto alone = [](unsigned worker, const std::function<void(unsigned)>& work) {
    std::thread(work, worker).join();
  };
  return {{"only the first",
           [](unsigned /*workers*/, const std::function<void(unsigned)>& work) { work(0); }},
          {"one after the other, last one first",
           [alone](unsigned workers, const std::function<void(unsigned)>& work) {
             for (unsigned worker = workers; worker-- > 1;) alone(worker, work);
             work(0);
           }},
          {"the others come when all is done",
           [alone](unsigned workers, const std::function<void(unsigned)>& work) {
             work(0);
             for (unsigned worker = 1; worker < workers; ++worker) alone(worker, work);
           }},
          {"all at once, the first one late",
           [](unsigned workers, const std::function<void(unsigned)>& work) {
             std::vector<std::jthread> threads;
             for (unsigned worker = 1; worker < workers; ++worker) {
               threads.emplace_back(work, worker);
             }
             std::this_thread::sleep_for(std::chrono::milliseconds(2));
             work(0);
           }}};
}

class TestEnvironment final : public ForwardingEnvironment {
 public:
  // Files that are there instead of those of the machine. Set before the first use.
  std::map<std::string, std::vector<std::uint8_t>> files;
  bool from_disk = false;  // those of the machine are there, too
  unsigned parallelism = 4;
  Executor executor;  // none: the machine's threads
  mutable MemoryBudget memory;
  std::stop_source stop;

  explicit TestEnvironment(std::uint64_t memory_limit = ~std::uint64_t{0}) : memory(memory_limit) {}

  absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                        std::uint64_t max_bytes) const override {
    {
      const std::lock_guard lock(mutex_);
      paths_read_.push_back(path);
    }
    const auto found = files.find(path);
    if (found == files.end() && from_disk) return base().ReadFile(path, max_bytes);
    if (found == files.end()) return absl::NotFoundError("there is no such file");
    if (found->second.size() > max_bytes) return absl::ResourceExhaustedError("too large");
    const auto number = static_cast<std::uint64_t>(std::distance(files.begin(), found));
    return FileContents{.bytes = found->second, .identity = {.device = 1, .inode = number}};
  }
  bool Exists(const std::string& path) const override { return files.contains(path); }

  unsigned Parallelism() const override { return parallelism; }
  void RunWorkers(unsigned workers, const std::function<void(unsigned)>& work) const override {
    ++parallel_runs;
    if (workers > most_workers) most_workers = workers;
    if (executor) return executor(workers, work);
    base().RunWorkers(workers, work);
  }
  std::stop_token StopToken() const override { return stop.get_token(); }

  absl::Status ReserveMemory(std::uint64_t bytes) const override { return memory.Reserve(bytes); }
  void ReleaseMemory(std::uint64_t bytes) const override { memory.Release(bytes); }

  // What was asked of it.
  mutable std::atomic<int> parallel_runs = 0;
  mutable std::atomic<unsigned> most_workers = 0;
  [[nodiscard]] std::vector<std::string> paths_read() const {
    const std::lock_guard lock(mutex_);
    return paths_read_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::string> paths_read_;
};

}  // namespace devlink::testing
