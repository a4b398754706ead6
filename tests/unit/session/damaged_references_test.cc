// SPDX-License-Identifier: Apache-2.0
//
// Lists of what host code refers to, damaged so that nvlink would leave kernels out without a word.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/host_object.h"
#include "support/number_at.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

constexpr int kSm = 80;

struct Lists {
  std::string external;
  std::string internal = ListBytes({});
};

LinkOutcome LinkWith(const Lists& lists, LinkOptions options = {},
                     std::string_view kernel = "alpha") {
  options.target = Arch{.number = kSm};
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  const Cubin code = BuildCubin({.functions = {{.name = std::string(kernel), .kernel = true},
                                               {.name = "beta", .kernel = true}}});
  std::vector<std::uint8_t> object =
      MakeHostObject(code, kSm, {{".nvHRKE", lists.external}, {".nvHRKI", lists.internal}});
  REQUIRE(session->AddInput("a.o", std::move(object)).ok());
  return session->Link();
}

LinkOutcome LinkWithList(std::string list, Compatibility compatibility = Compatibility::kDevlink) {
  LinkOptions options;
  options.compatibility = compatibility;
  return LinkWith({.external = std::move(list)}, options);
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

TEST_CASE("A list of no bytes is no list", "[session]") {
  const LinkOutcome none = LinkWithList("");
  CHECK(none.report.kernels.size() == 2);
  CHECK(LinkWithList(ListBytes({"alpha"})).report.kernels.size() == 1);
}

// nvcc lists the instances of a template as static, too.
TEST_CASE("A template's pattern for static kernels needs no note", "[session]") {
  const std::string kernel = "_ZN3foo2ktIiEvPT_";
  const std::string prefix = "__nv_static_25__c9b3cfbe_4_a_cu_648b7993_*";
  const auto notes = [&](const std::string& internal) {
    return NotesOf(LinkWith(
        {.external = ListBytes({"_ZN3foo2kt*"}), .internal = ListBytes({prefix + internal})}, {},
        kernel));
  };
  CHECK(notes("3foo2kt*").empty());
  CHECK(Says(notes("3foo2ks*"), "3foo2ks*'; left out"));
}

// nvlink reads the bytes of a list whatever its type says.
TEST_CASE("A list of a type without bytes is damage", "[session]") {
  const Cubin code = BuildCubin({.functions = {{.name = "alpha", .kernel = true}}});
  const std::vector<std::uint8_t> sound =
      MakeHostObject(code, kSm, {{".nvHRKE", ListBytes({"alpha"})}});
  const diff::CubinView view = diff::ViewCubin(sound);
  const auto list = std::ranges::find(view.sections, ".nvHRKE", &diff::ViewSection::name);
  REQUIRE(list != view.sections.end());
  const std::size_t type_at = NumberAt<std::uint64_t>(sound, 40) +
                              static_cast<std::size_t>(list - view.sections.begin()) * 64 + 4;
  for (const std::uint8_t type : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{8}}) {
    std::vector<std::uint8_t> object = sound;
    object[type_at] = type;
    auto session = LinkSession::Create({.target = Arch{.number = kSm}});
    CHECK(session->AddInput("a.o", std::move(object)).ok() == (type == 1));
  }
}

TEST_CASE("A note alone stays a note where the target is reported", "[session]") {
  LinkOptions options;
  options.report_arch = true;
  CHECK_FALSE(NotesOf(LinkWith({.external = ListBytes({"alpha", "bEta"})}, options)).empty());
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
