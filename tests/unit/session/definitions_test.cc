// SPDX-License-Identifier: Apache-2.0
//
// Inputs that a link asks its caller for.
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devlink/link_session.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

Cubin Make(const std::string& name, const std::vector<std::string>& calls, bool entry = false) {
  return BuildCubin({.functions = {{.name = name, .calls = calls, .kernel = entry}}});
}

// Has a cubin for some names, and keeps what it was asked.
class Library : public DefinitionProvider {
 public:
  explicit Library(std::map<std::string, Cubin> cubins = {}) : cubins_(std::move(cubins)) {}

  absl::StatusOr<std::vector<MemoryInput>> Provide(
      std::span<const UndefinedSymbol> undefined) override {
    asked.emplace_back(undefined.begin(), undefined.end());
    std::vector<MemoryInput> out;
    for (const UndefinedSymbol& symbol : undefined) {
      const auto found = cubins_.find(symbol.name);
      if (found != cubins_.end()) out.push_back({symbol.name + ".cubin", found->second});
    }
    return out;
  }

  std::vector<std::vector<UndefinedSymbol>> asked;

 private:
  std::map<std::string, Cubin> cubins_;
};

LinkSession Session(DefinitionProvider* definitions, LinkOptions options = {}) {
  options.target = *Arch::Parse("sm_80");
  return *LinkSession::Create(options, {.definitions = definitions});
}

TEST_CASE("What no input defines is asked for until nothing is missing", "[session]") {
  Library library({{"f", Make("f", {"h", "f"})}, {"g", Make("g", {})}, {"h", Make("h", {"f"})}});
  LinkSession session = Session(&library);
  REQUIRE(session.AddInput("k.cubin", Make("k", {"g", "f"}, true)).ok());
  REQUIRE(session.AddInput("l.cubin", Make("l", {"f"}, true)).ok());
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());

  REQUIRE(library.asked.size() == 2);
  REQUIRE(library.asked[0].size() == 2);
  for (const UndefinedSymbol& symbol : library.asked[0]) {
    CHECK(symbol.kind == SymbolKind::kFunction);
    CHECK(symbol.inputs == (symbol.name == "f" ? std::vector<std::string>{"k.cubin", "l.cubin"}
                                               : std::vector<std::string>{"k.cubin"}));
  }
  REQUIRE(library.asked[1].size() == 1);
  CHECK(library.asked[1][0].name == "h");
  CHECK(library.asked[1][0].inputs == std::vector<std::string>{"f.cubin"});

  // The output is that of a link which was given all of it, in the order of the answers.
  LinkSession whole = Session(nullptr);
  REQUIRE(whole.AddInput("k.cubin", Make("k", {"g", "f"}, true)).ok());
  REQUIRE(whole.AddInput("l.cubin", Make("l", {"f"}, true)).ok());
  for (const UndefinedSymbol& symbol : library.asked[0]) {
    const bool is_f = symbol.name == "f";
    REQUIRE(whole.AddInput(symbol.name, is_f ? Make("f", {"h", "f"}) : Make("g", {})).ok());
  }
  REQUIRE(whole.AddInput("h", Make("h", {"f"})).ok());
  CHECK(outcome.cubin == whole.Link().cubin);
  CHECK(outcome.registered.size() == 5);
  CHECK(outcome.registered.back().name == "h.cubin");

  // The session is as it was: another link asks again, and makes the same.
  CHECK(session.Link().cubin == outcome.cubin);
  CHECK(library.asked.size() == 4);
}

TEST_CASE("Nobody is asked where nothing is missing, or where it is not for the link to know",
          "[session]") {
  Library library;
  LinkSession complete = Session(&library);
  // The driver has vprintf.
  REQUIRE(complete.AddInput("k.cubin", Make("k", {"vprintf"}, true)).ok());
  CHECK(complete.Link().ok());

  for (const LinkOptions& options :
       {LinkOptions{.check_only = true}, LinkOptions{.relocatable = true},
        LinkOptions{.lto = {.enabled = true}}}) {
    LinkSession session = Session(&library, options);
    REQUIRE(session.AddInput("k.cubin", Make("k", {"f"}, true)).ok());
    (void)session.Link();
  }
  CHECK(library.asked.empty());
}

TEST_CASE("What nobody has stays undefined", "[session]") {
  Library library;
  LinkSession session = Session(&library);
  REQUIRE(session.AddInput("k.cubin", Make("k", {"f"}, true)).ok());
  const LinkOutcome outcome = session.Link();
  CHECK(outcome.status.code() == absl::StatusCode::kNotFound);
  CHECK(library.asked.size() == 1);
}

TEST_CASE("What joins a link stands in front of a device runtime that it may need", "[session]") {
  Library library({{"f", Make("f", {"runtime"})}});
  LinkSession session = Session(&library);
  REQUIRE(session.AddInput("k.cubin", Make("k", {"f"}, true)).ok());
  REQUIRE(session.AddInput("libcudadevrt.cubin", Make("runtime", {})).ok());
  const LinkOutcome outcome = session.Link();
  CHECK(outcome.ok());
  CHECK_FALSE(outcome.dropped_device_runtime);
  REQUIRE(library.asked.size() == 1);
  CHECK(library.asked[0].size() == 1);
}

TEST_CASE("An answer that cannot be used ends the link", "[session]") {
  Cubin damaged = Make("f", {});
  damaged.resize(100);
  Library library({{"f", damaged}});
  LinkSession session = Session(&library);
  REQUIRE(session.AddInput("k.cubin", Make("k", {"f"}, true)).ok());
  const LinkOutcome outcome = session.Link();
  CHECK(outcome.status.code() == absl::StatusCode::kInvalidArgument);
  REQUIRE_FALSE(outcome.diagnostics.empty());
  CHECK(outcome.diagnostics.back().input == "f.cubin");
}

class Refuser : public DefinitionProvider {
 public:
  absl::StatusOr<std::vector<MemoryInput>> Provide(
      std::span<const UndefinedSymbol> /*undefined*/) override {
    return absl::UnavailableError("the library is away");
  }
};

TEST_CASE("An error of whoever is asked is that of the link", "[session]") {
  Refuser refuser;
  LinkSession session = Session(&refuser);
  REQUIRE(session.AddInput("k.cubin", Make("k", {"f"}, true)).ok());
  CHECK(session.Link().status == absl::UnavailableError("the library is away"));
}

// Defines everything by something new.
class Endless : public DefinitionProvider {
 public:
  absl::StatusOr<std::vector<MemoryInput>> Provide(
      std::span<const UndefinedSymbol> undefined) override {
    ++rounds;
    const std::string& name = undefined.front().name;
    return std::vector<MemoryInput>{{name, Make(name, {name + "x"})}};
  }
  int rounds = 0;
};

TEST_CASE("A link that is never complete ends", "[session]") {
  Endless endless;
  LinkSession session = Session(&endless);
  REQUIRE(session.AddInput("k.cubin", Make("k", {"f"}, true)).ok());
  CHECK(session.Link().status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(endless.rounds > 100);
  CHECK(endless.rounds < 10000);
}

}  // namespace
}  // namespace devlink::testing
