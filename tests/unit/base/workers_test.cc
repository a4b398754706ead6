// SPDX-License-Identifier: Apache-2.0
#include "base/workers.h"

#include <cstddef>

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

}  // namespace
}  // namespace devlink::testing
