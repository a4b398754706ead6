// SPDX-License-Identifier: Apache-2.0
#include "base/run_together.h"

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

}  // namespace
}  // namespace devlink::testing
