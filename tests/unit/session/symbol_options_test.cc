// SPDX-License-Identifier: Apache-2.0
//
// --wrap, --defsym, --undefined, --icf and --retain-symbols-file, as a link has them.
#include <map>
#include <string>
#include <vector>

#include "devlink/link_session.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using Specs = std::vector<std::vector<FunctionSpec>>;

LinkOutcome LinkFiles(LinkOptions options, const Specs& files) {
  options.target = *Arch::Parse("sm_80");
  options.details = true;
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  for (std::size_t i = 0; i < files.size(); ++i) {
    REQUIRE(session
                ->AddCubin(std::string(1, static_cast<char>('a' + i)),
                           BuildCubin({.functions = files[i]}))
                .ok());
  }
  return session->Link();
}

std::map<std::string, LiveReason> ReasonsOf(const LinkOutcome& outcome) {
  REQUIRE(outcome.ok());
  std::map<std::string, LiveReason> out;
  for (const FunctionDetails& function : outcome.report.details->functions) {
    out[function.name] = function.why;
  }
  return out;
}

const FunctionSpec kKernel = {.name = "k", .calls = {"f"}, .kernel = true};

TEST_CASE("A wrapped function is called by its wrapper alone", "[symbols]") {
  const Specs files = {
      {kKernel}, {{.name = "f"}}, {{.name = "__wrap_f", .calls = {"__real_f"}}, {.name = "g"}}};
  auto reasons = ReasonsOf(LinkFiles({.wrapped_symbols = {"f"}}, files));
  CHECK(reasons["__wrap_f"] == LiveReason::kCalled);
  CHECK(reasons["f"] == LiveReason::kCalled);
  CHECK(ReasonsOf(LinkFiles({}, files))["__wrap_f"] == LiveReason::kDead);
}

TEST_CASE("A name stands for another that no input defines", "[symbols]") {
  const LinkOptions options = {.symbol_aliases = {{"f", "other"}}};
  CHECK(ReasonsOf(LinkFiles(options, {{kKernel}, {{.name = "other"}}}))["other"] ==
        LiveReason::kCalled);
  const LinkOutcome twice = LinkFiles(options, {{kKernel}, {{.name = "other"}, {.name = "f"}}});
  CHECK(twice.status.code() == absl::StatusCode::kAlreadyExists);
  CHECK(twice.diagnostics.front().text == "--defsym says what 'f' means, and 'b' defines it");
  const LinkOutcome nowhere = LinkFiles(options, {{kKernel}});
  CHECK_FALSE(nowhere.ok());
  CHECK(nowhere.diagnostics.front().symbol == "other");
}

TEST_CASE("Functions that are asked for stay, with what they call", "[symbols]") {
  const Specs files = {
      {{.name = "k", .kernel = true}, {.name = "f", .calls = {"g"}}, {.name = "g"}, {.name = "h"}}};
  const LinkOutcome outcome = LinkFiles({.kept_functions = {"f", "nowhere"}}, files);
  auto reasons = ReasonsOf(outcome);
  CHECK(reasons["f"] == LiveReason::kAskedFor);
  CHECK(reasons["g"] == LiveReason::kAskedFor);
  CHECK(reasons["h"] == LiveReason::kDead);
  REQUIRE(outcome.diagnostics.size() == 1);
  CHECK(outcome.diagnostics[0].text == "--undefined names 'nowhere', which no input defines");
  // A kernel that nobody else wants, too.
  const Specs kernels = {{{.name = "k", .kernel = true}, {.name = "other", .kernel = true}}};
  const LinkOptions named = {.kept_functions = {"k"}, .kernels_used = {"other"}};
  CHECK(LinkFiles(named, kernels).report.kernels.size() == 2);
}

TEST_CASE("One of functions that are the same stays", "[symbols]") {
  const Specs files = {{{.name = "k", .calls = {"f", "g"}, .kernel = true}, {.name = "f"}},
                       {{.name = "g"}}};
  auto plain = ReasonsOf(LinkFiles({}, files));
  CHECK(plain["g"] == LiveReason::kCalled);
  auto folded = ReasonsOf(LinkFiles({.fold_identical_functions = true}, files));
  CHECK(folded["f"] == LiveReason::kCalled);
  CHECK(folded["g"] == LiveReason::kDead);
  const LinkOptions asked = {.kept_functions = {"g"}, .fold_identical_functions = true};
  CHECK(ReasonsOf(LinkFiles(asked, files))["g"] == LiveReason::kCalled);
}

TEST_CASE("Of variables those that are retained are listed; memory is the same", "[symbols]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  const auto link = [&](std::optional<std::vector<std::string>> retained) {
    options.retained_symbols = std::move(retained);
    auto session = LinkSession::Create(options);
    REQUIRE(session
                ->AddCubin("a", BuildCubin({.functions = {{.name = "k", .kernel = true}},
                                            .global_bytes = 64,
                                            .global_name = "kept_name"}))
                .ok());
    const LinkOutcome outcome = session->Link();
    REQUIRE(outcome.ok());
    return std::string(outcome.cubin.begin(), outcome.cubin.end());
  };
  const std::string all = link(std::nullopt);
  CHECK(all.find("kept_name") != std::string::npos);
  CHECK(link({{"kept_name"}}) == all);
  const std::string none = link({{"other"}});
  CHECK(none.find("kept_name") == std::string::npos);
  CHECK(none.find(".nv.global.init") != std::string::npos);
}

TEST_CASE("What is not there for targets with two views is refused", "[symbols]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  const auto code = [](const LinkOptions& given) {
    return LinkSession::Create(given)->Link().status.code();
  };
  LinkOptions folding = options;
  folding.fold_identical_functions = true;
  CHECK(code(folding) == absl::StatusCode::kUnimplemented);
  LinkOptions retaining = options;
  retaining.retained_symbols.emplace();
  CHECK(code(retaining) == absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace devlink::testing
