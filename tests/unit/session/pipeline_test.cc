// SPDX-License-Identifier: Apache-2.0
//
// What can be watched of a link from outside.
#include <string>
#include <vector>

#include "devlink/link_session.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

class Passes : public PassObserver {
 public:
  void After(LinkPass pass, const std::function<std::string()>& text) override {
    names.emplace_back(PassName(pass));
    if (text().empty()) empty.push_back(names.back());
  }
  std::vector<std::string> names;
  std::vector<std::string> empty;
};

LinkSession Session(LinkOptions options, const SessionContext& context) {
  options.target = *Arch::Parse("sm_90");
  LinkSession session = *LinkSession::Create(options, context);
  REQUIRE(
      session
          .AddCubin(
              "k",
              BuildCubin(
                  {.sm = 90,
                   .functions = {{.name = "k", .calls = {"f"}, .entry = true, .static_shared = 16},
                                 {.name = "f"}}}))
          .ok());
  return session;
}

TEST_CASE("An observer hears of the passes in their order, in every kind of link", "[session]") {
  const bool relocatable = GENERATE(false, true);
  Passes passes;
  const LinkOutcome outcome = Session({.relocatable = relocatable}, {.passes = &passes}).Link();
  REQUIRE(outcome.ok());
  std::vector<std::string> expected;
  for (const LinkPass pass : AllPasses()) expected.emplace_back(PassName(pass));
  CHECK(passes.names == expected);
}

TEST_CASE("An observer changes no byte", "[session]") {
  Passes passes;
  CHECK(Session({}, {.passes = &passes}).Link().cubin == Session({}, {}).Link().cubin);
}

TEST_CASE("A trace has a span for each phase and input", "[session]") {
  TimeTrace trace;
  LinkSession session = Session({}, {.time_trace = &trace});
  REQUIRE(
      session.AddInput("second.cubin", BuildCubin({.sm = 90, .functions = {{.name = "g"}}})).ok());
  REQUIRE(session.Link().ok());
  const std::string json = trace.Json();
  for (const char* name :
       {"read input", "second.cubin", "merge", "relocate", "link", "write output"}) {
    CAPTURE(name);
    CHECK(json.find(std::string("\"") + name + "\"") != std::string::npos);
  }
}

TEST_CASE("A link that fails while it merges says what went in", "[session]") {
  LinkSession session = Session({}, {});
  REQUIRE(session.AddCubin("again", BuildCubin({.sm = 90, .functions = {{.name = "f"}}})).ok());
  const LinkOutcome outcome = session.Link();
  CHECK(outcome.status.code() == absl::StatusCode::kAlreadyExists);
  CHECK(outcome.report.inputs == 2);
  CHECK(outcome.report.input_bytes > 0);
}

TEST_CASE("Options that contradict each other make no session", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_90");
  options.lto.emit_ptx = true;
  CHECK(LinkSession::Create(options).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace devlink::testing
