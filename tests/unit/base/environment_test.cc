// SPDX-License-Identifier: Apache-2.0
#include "devlink/environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_reservation.h"
#include "base/stop.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/test_environment.h"

namespace devlink::testing {
namespace {

TEST_CASE("The default environment reads this machine's files", "[environment]") {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "a").string();
  const std::string linked = (directory.path() / "b").string();
  std::ofstream(path) << "12345";
  REQUIRE(symlink(path.c_str(), linked.c_str()) == 0);

  const Environment& world = Environment::Default();
  const auto file = world.ReadFile(path, 5);
  REQUIRE(file.ok());
  CHECK(file->bytes == std::vector<std::uint8_t>{'1', '2', '3', '4', '5'});
  CHECK(world.ReadFile(linked, 5)->identity == file->identity);
  CHECK(absl::IsResourceExhausted(world.ReadFile(path, 4).status()));
  CHECK(absl::IsNotFound(world.ReadFile(directory.path().string(), 4).status()));
  CHECK(absl::IsNotFound(world.ReadFile(path + "x", 4).status()));
  CHECK(world.Exists(path));
  CHECK(world.Exists(directory.path().string()));
  CHECK_FALSE(world.Exists(path + "x"));
}

TEST_CASE("The default environment never stops and grants any memory", "[environment]") {
  const Environment& world = Environment::Default();
  CHECK_FALSE(world.StopToken().stop_possible());
  CHECK(base::CheckStop(world.StopToken()).ok());
  CHECK(world.ReserveMemory(~std::uint64_t{0}).ok());
  CHECK(world.Parallelism() >= 1);
  const std::uint64_t before = world.NowNanoseconds();
  CHECK(world.NowNanoseconds() >= before);
}

TEST_CASE("A single worker is the caller's thread", "[environment]") {
  const auto self = std::this_thread::get_id();
  for (const unsigned workers : {1U, 4U}) {
    std::atomic<unsigned> calls = 0;
    std::atomic<unsigned> elsewhere = 0;
    bool first_is_here = false;
    Environment::Default().RunWorkers(workers, [&](unsigned worker) {
      ++calls;
      if (worker == 0) first_is_here = std::this_thread::get_id() == self;
      if (std::this_thread::get_id() != self) ++elsewhere;
    });
    CHECK(first_is_here);
    CHECK(calls == workers);
    CHECK(elsewhere == workers - 1);
  }
}

TEST_CASE("A forwarding environment answers as the other, but for what it overrides",
          "[environment]") {
  TestEnvironment inner;
  inner.files["a"] = {1, 2};
  class Deaf final : public ForwardingEnvironment {
   public:
    using ForwardingEnvironment::ForwardingEnvironment;
    std::stop_token StopToken() const override { return {}; }
  };
  const Deaf outer(inner);
  CHECK(outer.ReadFile("a", 9)->bytes.size() == 2);
  CHECK(outer.Exists("a"));
  CHECK(outer.Parallelism() == inner.parallelism);
  outer.RunWorkers(1, [](unsigned) {});
  CHECK(inner.parallel_runs == 1);
  CHECK(outer.ReserveMemory(7).ok());
  CHECK(inner.memory.used() == 7);
  outer.ReleaseMemory(7);
  CHECK(inner.memory.used() == 0);
  inner.stop.request_stop();
  CHECK(absl::IsCancelled(base::CheckStop(inner.StopToken())));
  CHECK_FALSE(outer.StopToken().stop_requested());
}

TEST_CASE("A budget refuses what would exceed it", "[environment]") {
  MemoryBudget budget(10);
  CHECK(budget.Reserve(6).ok());
  CHECK(absl::IsResourceExhausted(budget.Reserve(5)));
  CHECK(absl::IsResourceExhausted(budget.Reserve(~std::uint64_t{0})));
  CHECK(budget.used() == 6);
  CHECK(budget.Reserve(4).ok());
  budget.Release(9);
  CHECK(budget.used() == 1);
  CHECK(budget.peak() == 10);
}

TEST_CASE("A budget is kept to by several threads", "[environment]") {
  MemoryBudget budget(3);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          if (!budget.Reserve(1).ok()) continue;
          const int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          --inside;
          budget.Release(1);
        }
      });
    }
  }
  CHECK(most <= 3);
  CHECK(budget.used() == 0);
  CHECK(budget.peak() <= 3);
}

TEST_CASE("A reservation is given back once", "[environment]") {
  const TestEnvironment environment(10);
  {
    auto first = base::MemoryReservation::Make(environment, 6);
    REQUIRE(first.ok());
    CHECK(absl::IsResourceExhausted(base::MemoryReservation::Make(environment, 5).status()));
    base::MemoryReservation second = *std::move(first);
    base::MemoryReservation third;
    third = std::move(second);
    CHECK(environment.memory.used() == 6);
  }
  CHECK(environment.memory.used() == 0);
}

}  // namespace
}  // namespace devlink::testing
