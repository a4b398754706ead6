// SPDX-License-Identifier: Apache-2.0
#include "base/run_together.h"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/catch.h"
#include "support/test_environment.h"

namespace devlink::testing {
namespace {

TEST_CASE("Both jobs run once, whatever the environment does", "[base]") {
  for (const auto& [name, executor] : OddExecutors()) {
    for (const unsigned workers : {0U, 1U, 2U, 8U}) {
      CAPTURE(name, workers);
      TestEnvironment environment;
      environment.executor = executor;
      int first = 0;
      int second = 0;
      base::RunTogether(environment, workers, [&] { ++first; }, [&] { ++second; });
      CHECK(first == 1);
      CHECK(second == 1);
      CHECK(environment.parallel_runs == (workers > 1 ? 1 : 0));
    }
  }
}

TEST_CASE("What a job throws comes when both have ended", "[base]") {
  const TestEnvironment environment;
  const auto thrown = [&](bool first_too) -> std::string {
    bool done = false;
    try {
      base::RunTogether(
          environment, 2,
          [&] {
            if (first_too) throw std::runtime_error("first");
            done = true;
          },
          [] { throw std::runtime_error("second"); });
    } catch (const std::runtime_error& error) {
      CHECK(done != first_too);
      return error.what();
    }
    return "";
  };
  CHECK(thrown(false) == "second");
  CHECK(thrown(true) == "first");
}

TEST_CASE("A job is done here, and what stands beside it once or not at all", "[base]") {
  for (const auto& [name, executor] : OddExecutors()) {
    for (const unsigned workers : {0U, 1U, 2U, 8U}) {
      CAPTURE(name, workers);
      TestEnvironment environment;
      environment.executor = executor;
      std::thread::id done_on;
      int jobs = 0;
      std::atomic<int> beside = 0;
      const int result = base::RunBeside<int>(
          environment, workers,
          [&] {
            done_on = std::this_thread::get_id();
            return ++jobs;
          },
          [&] {
            ++beside;
            throw std::runtime_error("nobody needs it");
          });
      CHECK(result == 1);
      CHECK(done_on == std::this_thread::get_id());
      CHECK(beside <= 1);
      if (workers < 2 || name == "only the first") CHECK(beside == 0);
      if (workers > 1 && name == "one after the other, last one first") CHECK(beside == 1);
    }
  }
}

TEST_CASE("What the job throws comes when what stands beside it has ended", "[base]") {
  const TestEnvironment environment;
  const auto job = []() -> int { throw std::runtime_error("job"); };
  CHECK_THROWS_AS(base::RunBeside<int>(environment, 2, job, [] {}), std::runtime_error);
}

}  // namespace
}  // namespace devlink::testing
