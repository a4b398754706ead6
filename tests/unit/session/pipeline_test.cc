// SPDX-License-Identifier: Apache-2.0
//
// What can be watched of a link from outside.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "devlink/link_session.h"
#include "report/report.h"
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

LinkSession WatchedSession(LinkOptions options, const SessionContext& context) {
  options.target = *Arch::Parse("sm_90");
  LinkSession session = *LinkSession::Create(options, context);
  REQUIRE(
      session
          .AddCubin(
              "k",
              BuildCubin(
                  {.sm = 90,
                   .functions = {{.name = "k", .calls = {"f"}, .kernel = true, .static_shared = 16},
                                 {.name = "f"}}}))
          .ok());
  return session;
}

TEST_CASE("An observer hears of the passes in their order, in every kind of link", "[session]") {
  const bool relocatable = GENERATE(false, true);
  Passes passes;
  const LinkOutcome outcome =
      WatchedSession({.relocatable = relocatable}, {.passes = &passes}).Link();
  REQUIRE(outcome.ok());
  std::vector<std::string> expected;
  for (const LinkPass pass : AllPasses()) expected.emplace_back(PassName(pass));
  CHECK(passes.names == expected);
}

TEST_CASE("An observer changes no byte", "[session]") {
  Passes passes;
  CHECK(WatchedSession({}, {.passes = &passes}).Link().cubin ==
        WatchedSession({}, {}).Link().cubin);
}

class Intermediates : public IntermediateSink {
 public:
  void Take(const LinkIntermediate& made) override {
    stages.push_back(made.stage);
    names.emplace_back(made.name);
    sizes.push_back(made.bytes.size());
    CHECK(made.index + 1 == stages.size());
  }
  std::vector<LinkStage> stages;
  std::vector<std::string> names;
  std::vector<std::size_t> sizes;
};

TEST_CASE("Whoever asks for intermediates gets them, of a link that fails, too", "[session]") {
  Intermediates all;
  LinkSession session = WatchedSession({}, {.intermediates = &all});
  const Cubin caller = BuildCubin(
      {.sm = 90, .functions = {{.name = "other", .calls = {"nowhere"}, .kernel = true}}});
  REQUIRE(session.AddCubin("other", caller).ok());
  CHECK_FALSE(session.Link().ok());
  CHECK(all.stages == std::vector{LinkStage::kLinked, LinkStage::kLinked});
  CHECK(all.names == std::vector<std::string>{"k", "other"});
  CHECK(all.sizes.back() == caller.size());
}

TEST_CASE("A trace has a span for each phase and input", "[session]") {
  TimeTrace trace;
  LinkSession session = WatchedSession({}, {.time_trace = &trace});
  REQUIRE(
      session.AddInput("second.cubin", BuildCubin({.sm = 90, .functions = {{.name = "g"}}})).ok());
  REQUIRE(session.Link().ok());
  const std::string json = trace.Json();
  for (const char* name : {"read input", "second.cubin", "merge", "relocate", "describe output",
                           "link", "write output"}) {
    CAPTURE(name);
    CHECK(json.find(std::string("\"") + name + "\"") != std::string::npos);
  }
}

TEST_CASE("A link that fails while it merges says what went in", "[session]") {
  LinkSession session = WatchedSession({}, {});
  REQUIRE(session.AddCubin("again", BuildCubin({.sm = 90, .functions = {{.name = "f"}}})).ok());
  const LinkOutcome outcome = session.Link();
  CHECK(outcome.status.code() == absl::StatusCode::kAlreadyExists);
  CHECK(outcome.report.inputs == 2);
  CHECK(outcome.report.input_bytes > 0);
}

TEST_CASE("A finished program tells of itself what its link reported", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  LinkSession session = *LinkSession::Create(options);
  REQUIRE(session
              .AddCubin("k", BuildCubin({.functions = {{.name = "k",
                                                        .calls = {"f"},
                                                        .kernel = true,
                                                        .registers = 20,
                                                        .static_shared = 48},
                                                       {.name = "f", .registers = 33, .frame = 16},
                                                       {.name = "plain", .kernel = true}},
                                         .global_bytes = 12}))
              .ok());
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());
  const LinkReport report = internal::ReportWholeProgram(outcome.cubin);
  CHECK(report.output_bytes == outcome.cubin.size());
  CHECK(report.global_bytes == outcome.report.global_bytes);
  REQUIRE(report.kernels.size() == outcome.report.kernels.size());
  for (const KernelReport& expected : outcome.report.kernels) {
    const auto found = std::find_if(
        report.kernels.begin(), report.kernels.end(),
        [&expected](const KernelReport& entry) { return entry.name == expected.name; });
    REQUIRE(found != report.kernels.end());
    CHECK(found->registers == expected.registers);
    CHECK(found->stack_bytes == expected.stack_bytes);
    CHECK(found->shared_bytes == expected.shared_bytes);
    CHECK(found->parameter_bytes == expected.parameter_bytes);
  }
}

TEST_CASE("A whole program that cannot be read is reported by its size", "[session]") {
  const std::vector<std::uint8_t> bytes(100, 7);
  const LinkReport report = internal::ReportWholeProgram(bytes);
  CHECK(report.output_bytes == 100);
  CHECK(report.kernels.empty());
}

TEST_CASE("Options that contradict each other make no session", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_90");
  options.lto.emit_ptx = true;
  CHECK(LinkSession::Create(options).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace devlink::testing
