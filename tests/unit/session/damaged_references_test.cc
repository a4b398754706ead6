// SPDX-License-Identifier: Apache-2.0
//
// Lists of what host code refers to, damaged so that nvlink would leave kernels out without a word.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/host_object.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

constexpr int kSm = 80;

LinkOutcome LinkWithList(std::string list, Compatibility compatibility = Compatibility::kDevlink) {
  LinkOptions options;
  options.target = Arch{.number = kSm};
  options.compatibility = compatibility;
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  const Cubin code = BuildCubin(
      {.functions = {{.name = "alpha", .kernel = true}, {.name = "beta", .kernel = true}}});
  std::vector<std::uint8_t> object =
      MakeHostObject(code, kSm, {{".nvHRKE", std::move(list)}, {".nvHRKI", ListBytes({})}});
  REQUIRE(session->AddInput("a.o", std::move(object)).ok());
  return session->Link();
}

std::string NotesOf(const LinkOutcome& outcome) {
  std::string notes;
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    CHECK(diagnostic.text.empty());
    for (const std::string& note : diagnostic.notes) notes += note + "\n";
  }
  return notes;
}

bool Says(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

TEST_CASE("Sound lists of host references need no note", "[session]") {
  const LinkOutcome some = LinkWithList(ListBytes({"alph*"}));
  CHECK(some.ok());
  CHECK(NotesOf(some).empty());
  // A kernel of another link, where this one loses nothing by it.
  const LinkOutcome all = LinkWithList(ListBytes({"alph*", "beta", "elsewhere*"}));
  CHECK(NotesOf(all).empty());
}

TEST_CASE("A list without an end is noted", "[session]") {
  std::string list = ListBytes({"alpha", "beta"});
  list.pop_back();
  const LinkOutcome outcome = LinkWithList(list);
  CHECK(outcome.ok());
  CHECK(Says(NotesOf(outcome), "'a.o': its list .nvHRKE"));
  CHECK(LinkWithList(list, Compatibility::kNvlink).diagnostics.empty());
}

TEST_CASE("A list that names what is not there is noted where kernels are left out", "[session]") {
  const std::string list = ListBytes({"alpha", "bEta"});
  const std::string notes = NotesOf(LinkWithList(list));
  CHECK(Says(notes, "no input has: 'bEta'; left out"));
  CHECK(Says(notes, "refers to: 'beta'. If"));
  CHECK(LinkWithList(list, Compatibility::kNvlink).diagnostics.empty());
}

TEST_CASE("No flipped bit of a list loses a kernel in silence", "[session]") {
  const std::string sound = ListBytes({"alpha", "bet*"});
  const LinkOutcome whole = LinkWithList(sound);
  for (std::size_t bit = 0; bit < sound.size() * 8; ++bit) {
    std::string list = sound;
    list[bit / 8] = static_cast<char>(list[bit / 8] ^ (1U << bit % 8));
    const LinkOutcome outcome = LinkWithList(list);
    INFO("bit " << bit);
    REQUIRE(outcome.ok());
    CHECK((outcome.cubin == whole.cubin || !NotesOf(outcome).empty()));
  }
}

}  // namespace
}  // namespace devlink::testing
