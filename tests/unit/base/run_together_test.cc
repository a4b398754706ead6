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

// Calls as an environment may: all of them, in an order of its own; or the first alone.
class OddWorkers : public ForwardingEnvironment {
 public:
  enum class Way { kFirstAlone, kBackwards, kTwoThreads };
  explicit OddWorkers(Way way) : way_(way) {}

  void RunWorkers(unsigned workers, const std::function<void(unsigned)>& work) const override {
    ++runs;
    if (way_ == Way::kFirstAlone) return work(0);
    if (way_ == Way::kBackwards) {
      for (unsigned i = workers; i-- > 0;) work(i);
      return;
    }
    const std::jthread other([&] { work(1); });
    work(0);
  }

  mutable int runs = 0;

 private:
  const Way way_;
};

TEST_CASE("Both jobs run once, whatever the environment does", "[base]") {
  for (const auto way :
       {OddWorkers::Way::kFirstAlone, OddWorkers::Way::kBackwards, OddWorkers::Way::kTwoThreads}) {
    for (const unsigned workers : {0U, 1U, 2U, 8U}) {
      CAPTURE(static_cast<int>(way), workers);
      const OddWorkers environment(way);
      int first = 0;
      int second = 0;
      base::RunTogether(environment, workers, [&] { ++first; }, [&] { ++second; });
      CHECK(first == 1);
      CHECK(second == 1);
      CHECK(environment.runs == (workers > 1 ? 1 : 0));
    }
  }
}

TEST_CASE("What a job throws comes when both have ended", "[base]") {
  const OddWorkers environment(OddWorkers::Way::kTwoThreads);
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
  for (const auto way :
       {OddWorkers::Way::kFirstAlone, OddWorkers::Way::kBackwards, OddWorkers::Way::kTwoThreads}) {
    for (const unsigned workers : {0U, 1U, 2U, 8U}) {
      CAPTURE(static_cast<int>(way), workers);
      const OddWorkers environment(way);
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
      if (workers < 2 || way == OddWorkers::Way::kFirstAlone) CHECK(beside == 0);
      if (workers > 1 && way == OddWorkers::Way::kBackwards) CHECK(beside == 1);
    }
  }
}

TEST_CASE("What the job throws comes when what stands beside it has ended", "[base]") {
  const OddWorkers environment(OddWorkers::Way::kTwoThreads);
  const auto job = []() -> int { throw std::runtime_error("job"); };
  CHECK_THROWS_AS(base::RunBeside<int>(environment, 2, job, [] {}), std::runtime_error);
}

}  // namespace
}  // namespace devlink::testing
