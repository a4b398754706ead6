// SPDX-License-Identifier: Apache-2.0
//
// nvlink's options that its help does not list.
#include <optional>
#include <string>

#include "devlink/link_session.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

TEST_CASE("Options that nvlink hides change what is written", "[session]") {
  const Cubin cubin =
      BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true}, {.name = "f"}}});
  const auto link = [&](const LinkOptions& options) {
    auto session = LinkSession::Create(options);
    REQUIRE(session->AddCubin("a", cubin).ok());
    return session->Link();
  };
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  const LinkOutcome plain = link(options);
  REQUIRE(plain.ok());
  const auto has = [](const LinkOutcome& outcome, const std::string& text) {
    return std::string(outcome.cubin.begin(), outcome.cubin.end()).find(text) != std::string::npos;
  };
  options.host_section = "bytes of the host";
  CHECK(has(link(options), ".nv.host"));
  CHECK(has(link(options), "bytes of the host"));
  options.host_section.reset();
  options.recorded_tool = "another linker";
  CHECK(has(link(options), "another linker"));
  CHECK_FALSE(has(plain, "another linker"));
  options.recorded_tool.reset();
  options.dump_call_graph = true;
  options.dot_call_graph = true;
  const LinkOutcome drawn = link(options);
  CHECK(drawn.cubin == plain.cubin);
  CHECK(drawn.diagnostics.front().text == "callgraph for sm_80:");
  CHECK(drawn.call_graph_dot == "digraph callgraph {\nk -> f;\n}\n");
  CHECK_FALSE(plain.call_graph_dot.has_value());
  // Nothing here is of shared or undefined memory, or has relocations.
  options.dump_call_graph = false;
  options.allow_undefined_globals = true;
  options.disable_shared_reservation = true;
  options.reserve_null_pointer = true;
  CHECK(link(options).cubin == plain.cubin);
  options.preserve_relocations = true;
  CHECK(link(options).ok());
}

TEST_CASE("No name becomes anything else than a name in a graph", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.dot_call_graph = true;
  options.dump_call_graph = true;
  auto session = LinkSession::Create(options);
  const Cubin cubin =
      BuildCubin({.functions = {{.name = "k", .calls = {"f;\n\"x\\", "plain$1.x"}, .kernel = true},
                                {.name = "f;\n\"x\\"},
                                {.name = "plain$1.x"}}});
  REQUIRE(session->AddCubin("a", cubin).ok());
  const LinkOutcome outcome = session->Link();
  REQUIRE(outcome.ok());
  CHECK(outcome.call_graph_dot.value() ==
        R"(digraph callgraph {
k -> plain$1.x;
k -> "f;\\x0a\"x\\";
}
)");
  for (const Diagnostic& line : outcome.diagnostics) {
    CHECK(RenderDiagnostic(line, "devlink").find('\n') ==
          RenderDiagnostic(line, "devlink").size() - 1);
  }
}

}  // namespace
}  // namespace devlink::testing
