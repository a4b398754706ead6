// SPDX-License-Identifier: Apache-2.0
#include "base/job_queue.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace devlink::base {
namespace {

std::vector<std::size_t> InOrder(std::size_t jobs) {
  std::vector<std::size_t> out(jobs);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

TEST_CASE("An estimate does not overflow", "[base]") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  CHECK(EstimateMemory(0, 8, 100) == 8);
  CHECK(EstimateMemory(3, 8, 100) == 308);
  CHECK(EstimateMemory((kMost - 8) / 100, 8, 100) == 8 + (kMost - 8) / 100 * 100);
  CHECK(EstimateMemory((kMost - 8) / 100 + 1, 8, 100) == kMost);
  CHECK(EstimateMemory(kMost, 8, 100) == kMost);
}

TEST_CASE("Large jobs come first, and equal ones as they stand", "[base]") {
  std::vector<std::size_t> order = InOrder(5);
  LargestFirst(std::vector<std::uint64_t>{3, 9, 3, 1, 9}, order);
  CHECK(order == std::vector<std::size_t>{1, 4, 0, 2, 3});
}

TEST_CASE("Every job is run once, and the caller's thread hears of it", "[base]") {
  for (const unsigned workers : {1U, 2U, 8U}) {
    // With a budget of nothing they run one at a time.
    for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{25}, std::uint64_t{1000}}) {
      CAPTURE(workers, budget);
      JobQueue queue(std::vector<std::uint64_t>(20, 10), InOrder(20), budget,
                     Environment::Default(), {});
      std::vector<std::atomic<int>> runs(20);
      std::atomic<std::uint64_t> at_a_time = 0;
      std::atomic<std::uint64_t> most = 0;
      std::vector<std::size_t> heard;
      const std::thread::id caller = std::this_thread::get_id();
      const std::size_t end = queue.RunAll(
          workers,
          [&](const JobQueue::Grant& grant) {
            const std::uint64_t now = ++at_a_time;
            for (std::uint64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
            }
            ++runs[grant.job];
            std::this_thread::yield();
            --at_a_time;
            return grant.memory.ok();
          },
          [&](std::size_t done) {
            CHECK(std::this_thread::get_id() == caller);
            heard.push_back(done);
          });
      CHECK(end == 20);
      for (const std::atomic<int>& count : runs) CHECK(count == 1);
      if (budget == 25) CHECK(most <= 2);
      REQUIRE_FALSE(heard.empty());
      CHECK(heard.back() == 20);
      CHECK(std::is_sorted(heard.begin(), heard.end()));
    }
  }
}

TEST_CASE("Nothing counts behind the first job that fails, in whatever order they run", "[base]") {
  for (const unsigned workers : {1U, 2U, 8U}) {
    CAPTURE(workers);
    std::vector<std::size_t> order = InOrder(10);
    std::reverse(order.begin(), order.end());
    JobQueue queue(std::vector<std::uint64_t>(10, 1), order, 100, Environment::Default(), {});
    std::vector<std::atomic<int>> runs(10);
    const std::size_t end = queue.RunAll(
        workers,
        [&](const JobQueue::Grant& grant) {
          ++runs[grant.job];
          return grant.job != 3 && grant.job != 7;
        },
        [](std::size_t) {});
    CHECK(end == 4);
    // What stands before it is run all the same: it might fail, too.
    for (std::size_t job = 0; job < 4; ++job) CHECK(runs[job] == 1);
  }
}

TEST_CASE("Jobs that were done before are not run, and count", "[base]") {
  JobQueue queue(std::vector<std::uint64_t>(4, 1), {1, 3}, 100, Environment::Default(), {});
  std::vector<std::size_t> ran;
  std::vector<std::size_t> heard;
  CHECK(queue.RunAll(
            1,
            [&](const JobQueue::Grant& grant) {
              ran.push_back(grant.job);
              return true;
            },
            [&](std::size_t done) { heard.push_back(done); }) == 4);
  CHECK(ran == std::vector<std::size_t>{1, 3});
  CHECK(heard == std::vector<std::size_t>{3, 4});
}

TEST_CASE("Jobs are dropped when stopping is asked for", "[base]") {
  for (const unsigned workers : {1U, 4U}) {
    CAPTURE(workers);
    std::stop_source source;
    JobQueue queue(std::vector<std::uint64_t>(10, 100), InOrder(10), 100, Environment::Default(),
                   source.get_token());
    std::atomic<int> runs = 0;
    const std::size_t end = queue.RunAll(
        workers,
        [&](const JobQueue::Grant&) {
          if (++runs == 3) source.request_stop();
          return true;
        },
        [](std::size_t) {});
    CHECK(runs == 3);  // the budget lets one run at a time
    CHECK(end == 4);   // the first that was dropped is among them
  }
}

}  // namespace
}  // namespace devlink::base
