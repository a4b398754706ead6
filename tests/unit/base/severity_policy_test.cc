// SPDX-License-Identifier: Apache-2.0
#include "base/severity_policy.h"

#include "support/catch.h"

namespace devlink::testing {
namespace {

using base::SeverityPolicy;

TEST_CASE("A warning that is suppressed is not an error either", "[base]") {
  constexpr auto kWarning = Severity::kWarning;
  CHECK(SeverityPolicy{}.Judge(kWarning) == kWarning);
  CHECK(SeverityPolicy{.warnings_are_errors = true}.Judge(kWarning) == Severity::kError);
  CHECK_FALSE(SeverityPolicy{.suppress_warnings = true}.Judge(kWarning).has_value());
  CHECK_FALSE(SeverityPolicy{.warnings_are_errors = true, .suppress_warnings = true}
                  .Judge(kWarning)
                  .has_value());
}

TEST_CASE("What is not a warning stays what it is", "[base]") {
  constexpr SeverityPolicy kStrict{.warnings_are_errors = true, .suppress_warnings = true};
  for (const Severity severity : {Severity::kInfo, Severity::kError, Severity::kFatal}) {
    CHECK(kStrict.Judge(severity) == severity);
  }
}

}  // namespace
}  // namespace devlink::testing
