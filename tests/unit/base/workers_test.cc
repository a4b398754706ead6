// SPDX-License-Identifier: Apache-2.0
#include "base/workers.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

class ThreeThreads : public ForwardingEnvironment {
 public:
  [[nodiscard]] unsigned Parallelism() const override { return 3; }
};

TEST_CASE("There are no more workers than jobs and threads", "[base]") {
  const ThreeThreads environment;
  CHECK(base::WorkersFor(2, 0, environment) == 2);
  CHECK(base::WorkersFor(9, 0, environment) == 3);
  CHECK(base::WorkersFor(9, 5, environment) == 5);  // a number asked for is taken as it is
  CHECK(base::WorkersFor(9, 1, environment) == 1);
  CHECK(base::WorkersFor(0, 0, environment) == 0);
  CHECK(base::WorkersFor(std::size_t{1} << 32, 2, environment) == 2);
}

// Says 0 as std::thread::hardware_concurrency may, or forgets the call that it must make.
class Odd : public ForwardingEnvironment {
 public:
  explicit Odd(bool calls) : calls_(calls) {}
  [[nodiscard]] unsigned Parallelism() const override { return 0; }
  void RunWorkers(unsigned workers, const std::function<void(unsigned)>& work) const override {
    ++runs;
    for (unsigned i = calls_ ? 0 : 1; i < workers; ++i) work(i);
  }
  mutable int runs = 0;

 private:
  bool calls_;
};

TEST_CASE("An environment that knows of no thread has one", "[base]") {
  CHECK(base::WorkersFor(9, 0, Odd(true)) == 1);
}

TEST_CASE("The first worker works, whatever the environment forgets", "[base]") {
  for (const bool calls : {true, false}) {
    for (const unsigned workers : {0U, 1U, 2U, 3U}) {
      CAPTURE(calls, workers);
      const Odd environment(calls);
      std::vector<unsigned> called;
      base::RunWorkers(environment, workers, [&](unsigned worker) { called.push_back(worker); });
      CHECK(std::count(called.begin(), called.end(), 0U) == 1);
      CHECK(called.size() == std::max(workers, 1U));
      CHECK(environment.runs == (workers > 1 ? 1 : 0));
    }
  }
}

}  // namespace
}  // namespace devlink::testing
