// SPDX-License-Identifier: Apache-2.0
//
// Relocatable links, from cubins that the test makes itself. tests/link compares with nvlink.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ViewCubin;
using diff::ViewSymbol;

LinkOutcome Link(const std::vector<Cubin>& inputs, bool relocatable,
                 std::string_view target = "sm_80") {
  LinkOptions options;
  options.target = *Arch::Parse(target);
  options.relocatable = relocatable;
  auto session = LinkSession::Create(options);
  if (!session.ok()) return {.status = session.status()};
  for (const Cubin& input : inputs) {
    if (auto added = session->AddCubin("input", input); !added.ok()) return {.status = added};
  }
  return session->Link();
}

Cubin PartialCaller() {
  return BuildCubin({.functions = {{.name = "kernel", .calls = {"helper"}, .kernel = true},
                                   {.name = "nobody_calls_it"}},
                     .global_bytes = 8});
}
Cubin PartialHelper() {
  return BuildCubin({.functions = {{.name = "helper", .registers = 30, .frame = 16}}});
}

bool HasSymbol(const CubinView& view, const std::string& name) {
  return std::any_of(view.symbols.begin(), view.symbols.end(),
                     [&name](const ViewSymbol& symbol) { return symbol.key == name; });
}

TEST_CASE("A relocatable link keeps everything and needs nothing", "[session]") {
  const auto result = Link({PartialCaller()}, true);
  REQUIRE(result.ok());
  const CubinView view = ViewCubin(result.cubin);
  CHECK(view.problems.empty());
  CHECK(view.segments.empty());
  CHECK(result.cubin[16] == 1);  // ET_REL
  CHECK(view.Find(".text.nobody_calls_it") != nullptr);
  CHECK(view.Find(".nv.rel.action") == nullptr);
  CHECK(HasSymbol(view, "helper"));
  REQUIRE(view.Find(".nv.global.init") != nullptr);
  CHECK(view.Find(".nv.global.init")->type == 0x70000008);
}

TEST_CASE("Nothing travels along calls in a relocatable link", "[session]") {
  const auto result = Link({PartialCaller(), PartialHelper()}, true);
  REQUIRE(result.ok());
  REQUIRE(result.report.kernels.size() == 1);
  CHECK(result.report.kernels[0].registers == 8);
  CHECK(result.report.dead_functions.empty());
}

TEST_CASE("What a relocatable link writes can be linked on", "[session]") {
  const auto first = Link({PartialCaller()}, true);
  REQUIRE(first.ok());
  CHECK_FALSE(Link({first.cubin}, false).ok());  // helper is missing

  const auto both = Link({first.cubin, PartialHelper()}, false);
  REQUIRE(both.ok());
  REQUIRE(both.report.kernels.size() == 1);
  CHECK(both.report.kernels[0].registers == 30);
  CHECK(both.report.kernels[0].stack_bytes == std::optional<std::uint64_t>(16));
  CHECK(both.report.dead_functions == std::vector<std::string>{"nobody_calls_it"});

  const auto again = Link({first.cubin}, true);
  REQUIRE(again.ok());
  CHECK(again.cubin.size() == first.cubin.size());
}

// nvlink -r writes them anew in its own form, and links what devlink keeps, too.
TEST_CASE("Capsules of CUDA 12.8 stay as they are in a relocatable link", "[session][mercury]") {
  const LinkOutcome first = Link({MercuryGolden("second_12_8.cubin")}, true, "sm_100");
  REQUIRE(first.ok());
  const LinkOutcome again = Link({first.cubin}, true, "sm_100");
  INFO(again.status);
  CHECK(again.ok());
}

// ptxas 12.8 made it of the link case weak_forgotten_constants. Where its constants go in the
// capsule is not known.
TEST_CASE("What is not linked of CUDA 12.8 is not called damaged", "[session][mercury]") {
  auto session =
      LinkSession::Create({.target = *Arch::Parse("sm_100"), .finalize = FinalizeMode::kNever});
  REQUIRE(session.ok());
  REQUIRE(session->AddCubin("old", MercuryGolden("constants_12_8.cubin")).ok());
  const LinkOutcome result = session->Link();
  CHECK(absl::IsUnimplemented(result.status));
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].code == DiagnosticCode::kUnsupportedFeature);
  CHECK(result.diagnostics[0].text.starts_with("'.text.f' is of CUDA 12.8,"));
  CHECK(result.cubin.empty());
}

TEST_CASE("Names that are defined twice end a relocatable link, too", "[session]") {
  CHECK(Link({PartialHelper(), PartialHelper()}, true).status.code() ==
        absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace devlink::testing
