// SPDX-License-Identifier: Apache-2.0
//
// In the place of system_faults_test.cc where a sanitizer is built in.
#include "support/catch.h"

namespace devlink::testing {
namespace {

TEST_CASE("Each call of the system may fail, and then all that follow", "[faults]") {
  DEVLINK_SKIP("built with a sanitizer, which stands in front of the C library as well");
}

}  // namespace
}  // namespace devlink::testing
