// SPDX-License-Identifier: Apache-2.0
#include "plan/option_conflicts.h"

#include <string>

#include "support/catch.h"

namespace devlink::internal {
namespace {

std::string Conflict(const LinkOptions& options) {
  const absl::Status status = CheckOptions(options);
  CHECK((status.ok() || status.code() == absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

TEST_CASE("Plain options do not contradict each other", "[plan]") {
  CHECK(Conflict({}).empty());
  CHECK(Conflict({.debug = true, .suppress_debug_info = true}).empty());
  CHECK(Conflict({.relocatable = true, .lto = {.enabled = true, .force_partial = true}}).empty());
  CHECK(Conflict({.lto = {.enabled = true, .force_whole = true, .emit_ptx = true}}).empty());
}

TEST_CASE("What -g alone gives a meaning is wrong without it", "[plan]") {
  CHECK(Conflict({.suppress_debug_info = true}) ==
        "Conflicting options '-suppress-debug-info' and 'no -g'");
}

TEST_CASE("What -lto alone gives a meaning is wrong without it", "[plan]") {
  CHECK(Conflict({.lto = {.force_partial = true, .force_whole = true}}) ==
        "Conflicting options '-force-partial-lto' and 'no -dlto'");
  CHECK(Conflict({.lto = {.force_whole = true, .emit_ptx = true}}) ==
        "Conflicting options '-force-whole-lto' and 'no -dlto'");
  CHECK(Conflict({.lto = {.emit_ptx = true, .fast_compile = FastCompile::kMin}}) ==
        "Conflicting options '-emit-ptx' and 'no -dlto'");
  CHECK(Conflict({.lto = {.fast_compile = FastCompile::kOff}}) ==
        "Conflicting options '--Ofast-compile' and 'no -dlto'");
}

TEST_CASE("A whole program is neither a part nor linked again", "[plan]") {
  const std::string text = "Conflicting options '-force-partial-lto' and '-force-whole-lto'";
  CHECK(Conflict({.lto = {.enabled = true, .force_partial = true, .force_whole = true}}) == text);
  CHECK(Conflict({.relocatable = true, .lto = {.enabled = true, .force_whole = true}}) == text);
}

TEST_CASE("nvlink names the debugger's options first", "[plan]") {
  CHECK(Conflict({.suppress_debug_info = true, .lto = {.emit_ptx = true}}) ==
        "Conflicting options '-suppress-debug-info' and 'no -g'");
}

}  // namespace
}  // namespace devlink::internal
