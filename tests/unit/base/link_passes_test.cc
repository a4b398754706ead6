// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/link_passes.h"

#include <cstddef>

#include "support/catch.h"

namespace devlink::testing {
namespace {

TEST_CASE("Every pass has a name by which it is found", "[report][dump]") {
  REQUIRE(AllPasses().size() == static_cast<std::size_t>(LinkPass::kImage) + 1);
  for (std::size_t i = 0; i < AllPasses().size(); ++i) {
    CHECK(static_cast<std::size_t>(AllPasses()[i]) == i);  // in order, none twice
    CHECK(!PassName(AllPasses()[i]).empty());
    CHECK(FindPass(PassName(AllPasses()[i])) == AllPasses()[i]);
  }
}

TEST_CASE("Only whole names of passes are known", "[report][dump]") {
  CHECK(FindPass("call-graph") == LinkPass::kCallGraph);
  CHECK(!FindPass(""));
  CHECK(!FindPass("call"));
  CHECK(!FindPass("Merge"));
}

}  // namespace
}  // namespace devlink::testing
