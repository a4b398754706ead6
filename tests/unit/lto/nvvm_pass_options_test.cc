// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/nvvm_pass_options.h"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "lto/nvvm_knob_tables.h"
#include "lto/nvvm_pass_slots.h"
#include "support/catch.h"
#include "unit/lto/said.h"

namespace devlink::testing {
namespace {

constexpr auto k7 = NvvmGeneration::kLlvm7;
constexpr auto k20 = NvvmGeneration::kLlvm20;
using internal::kNvvmPassSlots;
using internal::NearestNvvmKnob;
using internal::NvvmPassSlot;
using internal::NvvmPassSlotAt;
using internal::NvvmSlotKind;
using internal::ResolveNvvmBoolean;
using Words = std::vector<std::string>;

TEST_CASE("The target decides which compiler's knobs count", "[nvvm]") {
  CHECK(NvvmGenerationOf({.number = 75}) == k7);
  CHECK(NvvmGenerationOf({.number = 90, .variant = 'a'}) == k7);
  CHECK(NvvmGenerationOf({.number = 100}) == k20);
  CHECK(NvvmGenerationOf({.number = 121, .variant = 'a'}) == k20);
}

TEST_CASE("Knobs are sorted, each once, and found by name", "[nvvm]") {
  for (const NvvmGeneration generation : {k7, k20}) {
    const auto knobs = NvvmKnobs(generation);
    CHECK(knobs.size() > 1000);
    CHECK(std::ranges::adjacent_find(knobs, std::ranges::greater_equal(), &NvvmKnob::name) ==
          knobs.end());
    for (std::size_t i = 0; i < knobs.size(); i += 17) {
      const auto found = FindNvvmKnob(knobs[i].name, generation);
      CAPTURE(knobs[i].name);
      REQUIRE(found.has_value());
      CHECK(found->name == knobs[i].name);
      CHECK(found->kind == knobs[i].kind);
      CHECK(found->confidence == knobs[i].confidence);
      CHECK(found->scope == knobs[i].scope);
    }
  }
  CHECK_FALSE(FindNvvmKnob("", k7).has_value());
  CHECK_FALSE(FindNvvmKnob("no such", k7).has_value());
}

TEST_CASE("The tables hold together", "[nvvm]") {
  const auto notes = internal::KnobNotes();
  CHECK(std::ranges::adjacent_find(notes, std::ranges::greater_equal(),
                                   &internal::KnobNote::name) == notes.end());
  for (const NvvmGeneration generation : {k7, k20}) {
    const internal::KnobTable& table =
        generation == k7 ? internal::Llvm7Knobs() : internal::Llvm20Knobs();
    std::set<std::string_view> names;
    for (const auto& group : table.names) {
      internal::NameWalk walk(group.names);
      for (std::string_view name; !(name = walk.Next()).empty();) {
        CAPTURE(name);
        CHECK(names.insert(name.substr(0, name.find(':'))).second);
      }
    }
    internal::NameWalk measured(table.measured);
    for (std::string_view name; !(name = measured.Next()).empty();) {
      CAPTURE(name);
      CHECK(names.contains(name));
      CHECK(FindNvvmKnob(name, generation)->confidence == NvvmKnobConfidence::kMeasured);
    }
  }
}

TEST_CASE("A knob says what is known of it", "[nvvm]") {
  const auto licm = FindNvvmKnob("do-licm", k7);
  REQUIRE(licm.has_value());
  CHECK(licm->kind == NvvmKnobKind::kBoolean);
  CHECK(licm->default_value == "1");
  CHECK(licm->pass == "loop invariant code motion");
  CHECK(licm->confidence != NvvmKnobConfidence::kDocumentOnly);
  const auto notes = internal::KnobNotes();
  const auto note = std::ranges::find(notes, "do-licm", &internal::KnobNote::name);
  REQUIRE(note != notes.end());
  CHECK(note->slot == 143);
  CHECK(NvvmPassSlotAt(note->slot).pass == licm->pass);

  CHECK(FindNvvmKnob("unroll-count", k7)->kind == NvvmKnobKind::kUnsigned);
  CHECK(FindNvvmKnob("unroll-count", k7)->confidence == NvvmKnobConfidence::kMeasured);
  CHECK(FindNvvmKnob("unroll-count", k7)->scope == NvvmKnobScope::kLibrary);
  CHECK(FindNvvmKnob("disable-LoopUnrollPass", k7)->scope == NvvmKnobScope::kProgram);
  CHECK(FindNvvmKnob("do-cssa", k7)->confidence == NvvmKnobConfidence::kDocumentOnly);
  // The newer compiler lost some.
  CHECK(FindNvvmKnob("remat-for-occ", k7)->confidence != NvvmKnobConfidence::kDocumentOnly);
  CHECK(FindNvvmKnob("remat-for-occ", k20)->confidence == NvvmKnobConfidence::kDocumentOnly);
}

TEST_CASE("The pipeline's switches", "[nvvm]") {
  std::map<NvvmSlotKind, int> count;
  int on = 0;
  for (int i = 1; i <= kNvvmPassSlots; ++i) {
    const NvvmPassSlot slot = NvvmPassSlotAt(i);
    CHECK(slot.number == i);
    ++count[slot.kind];
    if (slot.kind == NvvmSlotKind::kBoolean && ResolveNvvmBoolean({}, slot.default_value)) ++on;
  }
  CHECK(count[NvvmSlotKind::kText] == 114);
  CHECK(count[NvvmSlotKind::kBoolean] == 100);
  CHECK(count[NvvmSlotKind::kInteger] == 6);
  CHECK(count[NvvmSlotKind::kTextPointer] == 1);
  CHECK(on == 14);
  CHECK(NvvmPassSlotAt(197).default_value == "20");
  CHECK(NvvmPassSlotAt(0).number == 0);
  CHECK(NvvmPassSlotAt(222).number == 0);
}

TEST_CASE("A switch resolves by the first letter, or by its default", "[nvvm]") {
  CHECK(ResolveNvvmBoolean("1", "0"));
  CHECK(ResolveNvvmBoolean("true", "0"));
  CHECK(ResolveNvvmBoolean("True", "0"));
  CHECK(ResolveNvvmBoolean("tx", "0"));
  CHECK_FALSE(ResolveNvvmBoolean("0", "1"));
  CHECK_FALSE(ResolveNvvmBoolean("yes", "1"));
  CHECK_FALSE(ResolveNvvmBoolean("01", "1"));
  CHECK(ResolveNvvmBoolean("", "1"));
  CHECK(ResolveNvvmBoolean(std::nullopt, "1"));
  CHECK_FALSE(ResolveNvvmBoolean(std::nullopt, "0"));
  CHECK_FALSE(ResolveNvvmBoolean(std::nullopt, ""));
}

TEST_CASE("Values are checked before libNVVM sees them", "[nvvm]") {
  struct Case {
    const char* name;
    const char* value;
    bool good;
  };
  const Case cases[] = {{"do-licm", "0", true},
                        {"do-licm", "true", true},
                        {"do-licm", "FALSE", true},
                        {"do-licm", "maybe", false},
                        {"do-licm", "2", false},
                        {"unroll-count", "4", true},
                        {"unroll-count", "4294967295", true},
                        {"unroll-count", "4294967296", false},
                        {"unroll-count", "-1", false},
                        {"unroll-count", "4x", false},
                        {"unroll-count", " 4", false},
                        {"unroll-count", "", false},
                        {"inline-threshold", "-5", true},
                        {"inline-threshold", "1.5", false},
                        {"inline-threshold", "99999999999", false},
                        {"cold-branch-ratio", "0.25", true},
                        {"cold-branch-ratio", "-3", true},
                        {"cold-branch-ratio", ".5", true},
                        {"cold-branch-ratio", "0,25", false},
                        {"cold-branch-ratio", "1e-3", false},
                        {"cold-branch-ratio", "+1", false},
                        {"cold-branch-ratio", "0x1p3", false},
                        {"cold-branch-ratio", "inf", false},
                        {"cold-branch-ratio", "infinity", false},
                        {"cold-branch-ratio", "nan(x)", false}};
  for (const Case& c : cases) {
    CAPTURE(c.name, c.value);
    NvvmPassOptions options(k7);
    const absl::Status status = options.Set(c.name, c.value);
    CHECK(status.ok() == c.good);
    CHECK(options.empty() == !c.good);
    if (!c.good) CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  }
  NvvmPassOptions options(k7);
  CHECK(options.Set("do-licm").ok());
  // Without a value it would swallow the next word of libNVVM's own.
  CHECK_FALSE(options.Set("unroll-count").ok());
  CHECK(Message(options.Set("unroll-count", "x")) ==
        "'x' is not a value for libNVVM's knob 'unroll-count': it must be a whole number from 0 to "
        "4294967295");
  CHECK_FALSE(options.Set("unroll-count", std::string_view("4\0", 2)).ok());
  CHECK(options.ToArguments() == Words{"-Xopt", "-do-licm"});
}

TEST_CASE("Choices are checked against their words", "[nvvm]") {
  NvvmPassOptions options(k7);
  CHECK(options.Set("Ofast-compile", "max").ok());
  CHECK(
      Message(options.Set("Ofast-compile", "fastest")) ==
      "'fastest' is not a value for libNVVM's knob 'Ofast-compile': it must be one of 0, min, mid, "
      "max");
  CHECK(options.Value("Ofast-compile") == "max");
}

TEST_CASE("An unknown name is refused with the nearest one", "[nvvm]") {
  NvvmPassOptions options(k7);
  CHECK(Message(options.Set("unrol-count", "4")) ==
        "libNVVM has no knob 'unrol-count' for targets before sm_100; the nearest is "
        "'unroll-count'");
  CHECK(Message(options.Set("do-lcim", "0")).ends_with("the nearest is 'do-licm'"));
  CHECK(Message(options.Set("xyzzyxyzzy", "0")) ==
        "libNVVM has no knob 'xyzzyxyzzy' for targets before sm_100");
  NvvmPassOptions newer(k20);
  CHECK(Message(newer.Set("disable-LICMPass")) ==
        "libNVVM has no knob 'disable-LICMPass' for sm_100 and later, only for targets before "
        "sm_100");
  CHECK(NearestNvvmKnob("", k7).empty());
  CHECK(NearestNvvmKnob(std::string(1'000'000, 'a'), k7).empty());
  CHECK_FALSE(options.Set(std::string(1'000'000, 'a'), "1").ok());
}

TEST_CASE("What ends the process or loads code is not let through", "[nvvm]") {
  for (const NvvmGeneration generation : {k7, k20}) {
    for (const char* name :
         {"help", "help-hidden", "help-list-hidden", "version", "load", "print-all-options", "h"}) {
      NvvmPassOptions options(generation);
      CAPTURE(name);
      CHECK_FALSE(options.Set(name).ok());
      CHECK_FALSE(options.Set(name, "1").ok());
      CHECK(options.empty());
    }
  }
}

TEST_CASE("-Xopt options are read and written", "[nvvm]") {
  Words others;
  const auto options = NvvmPassOptions::Parse(
      Words{"-opt=2", "-Xopt", "-unroll-count=3", "-Xopt", "--do-licm=0", "-ftz=1", "-Xopt",
            "-inline-threshold", "-Xopt", "50", "-Xopt", "-unroll-count=4"},
      k7, &others);
  REQUIRE(options.ok());
  CHECK(others == Words{"-opt=2", "-ftz=1"});
  // Each once, the last value, in the order of the first.
  CHECK(options->ToArguments() ==
        Words{"-Xopt", "-unroll-count=4", "-Xopt", "-do-licm=0", "-Xopt", "-inline-threshold=50"});
  const auto again = NvvmPassOptions::Parse(options->ToArguments(), k7);
  REQUIRE(again.ok());
  CHECK(*again == *options);

  CHECK_FALSE(NvvmPassOptions::Parse(Words{"-opt=2"}, k7).ok());
  CHECK_FALSE(NvvmPassOptions::Parse(Words{"-Xopt"}, k7).ok());
  CHECK_FALSE(NvvmPassOptions::Parse(Words{"-Xopt", "unroll-count=3"}, k7).ok());
  CHECK_FALSE(NvvmPassOptions::Parse(Words{"-Xopt", ""}, k7).ok());
  CHECK_FALSE(NvvmPassOptions::Parse(Words{"-Xopt", "-"}, k7).ok());
  CHECK_FALSE(NvvmPassOptions::Parse(Words{"-Xopt", "--"}, k7).ok());
  CHECK_FALSE(NvvmPassOptions::Parse(Words{"-Xopt", "-unroll-count"}, k7).ok());
  CHECK_FALSE(
      NvvmPassOptions::Parse(Words{"-Xopt", "-unroll-count", "-Xopt", "-do-licm"}, k7).ok());
  CHECK(NvvmPassOptions::Parse(Words{}, k7)->empty());
}

TEST_CASE("A word is set as its name and value are", "[nvvm]") {
  NvvmPassOptions options(k7);
  CHECK(options.SetWord("-unroll-count=3").ok());
  CHECK(options.SetWord("--do-licm=0").ok());
  CHECK(options.Value("unroll-count") == "3");
  CHECK(options.Value("do-licm") == "0");
  CHECK(absl::IsInvalidArgument(options.SetWord("unroll-count=3")));
  CHECK(absl::IsInvalidArgument(options.SetWord("-no-such-knob=3")));
}

TEST_CASE("Values can be taken back, and a default steps in", "[nvvm]") {
  NvvmPassOptions options(k7);
  CHECK(options.IsOn("do-licm"));
  REQUIRE(options.Set("do-licm", "0").ok());
  CHECK_FALSE(options.IsOn("do-licm"));
  options.Clear("do-licm");
  CHECK(options.IsOn("do-licm"));
  CHECK_FALSE(options.Value("do-licm").has_value());
  CHECK_FALSE(options.IsOn("disable-inlining"));
  REQUIRE(options.Set("disable-inlining").ok());
  CHECK(options.IsOn("disable-inlining"));
  CHECK(options.Value("disable-inlining") == "1");
}

TEST_CASE("Options say whether they outlive their program", "[nvvm]") {
  NvvmPassOptions options(k7);
  CHECK_FALSE(options.OutlivesProgram());
  REQUIRE(options.Set("disable-LoopUnrollPass").ok());
  CHECK_FALSE(options.OutlivesProgram());
  REQUIRE(options.Set("unroll-count", "2").ok());
  CHECK(options.OutlivesProgram());
}

TEST_CASE("A copy per thread shares nothing", "[nvvm]") {
  NvvmPassOptions original(k7);
  REQUIRE(original.Set("do-licm", "0").ok());
  std::vector<Words> seen(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&seen, i, copy = original]() mutable {
      for (int n = 0; n < 50; ++n) {
        if (!copy.Set("unroll-count", std::to_string(i)).ok()) return;
      }
      seen[i] = copy.ToArguments();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i] == Words{"-Xopt", "-do-licm=0", "-Xopt", "-unroll-count=" + std::to_string(i)});
  }
  CHECK(original.ToArguments() == Words{"-Xopt", "-do-licm=0"});
}

}  // namespace
}  // namespace devlink::testing
