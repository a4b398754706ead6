// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/code_choice.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

constexpr std::array<std::string_view, 23> kArchs = {
    "sm_75",   "sm_80",   "sm_86",   "sm_87",   "sm_88",   "sm_89",   "sm_90",  "sm_90a",
    "sm_100",  "sm_100a", "sm_100f", "sm_103",  "sm_103a", "sm_103f", "sm_110", "sm_110a",
    "sm_110f", "sm_120",  "sm_120a", "sm_120f", "sm_121",  "sm_121a", "sm_121f"};

Arch ArchOf(std::string_view name) { return *Arch::Parse(name); }

// What nvlink 13.0 took ('x') from fat binaries of a single member: rows are members, columns
// targets, both in the order of kArchs.
using Table = std::array<std::string_view, kArchs.size()>;

// Cubins of today's fatbinary.
constexpr Table kCubin = {
    "x......................",  // sm_75
    ".xx..x.................",  // sm_80
    "..x..x.................",  // sm_86
    "...x...................",  // sm_87
    "....x..................",  // sm_88
    ".....x.................",  // sm_89
    "......xx...............",  // sm_90
    "......xx...............",  // sm_90a
    "........xxxxxx.........",  // sm_100
    "........xxx............",  // sm_100a
    "........xxxxxx.........",  // sm_100f
    "...........xxx.........",  // sm_103
    "...........xxx.........",  // sm_103a
    "...........xxx.........",  // sm_103f
    "..............xxx......",  // sm_110
    "..............xxx......",  // sm_110a
    "..............xxx......",  // sm_110f
    ".................xxxxxx",  // sm_120
    ".................xxx...",  // sm_120a
    ".................xxxxxx",  // sm_120f
    "....................xxx",  // sm_121
    "....................xxx",  // sm_121a
    "....................xxx",  // sm_121f
};

// Cubins without compatibility record.
constexpr Table kOldCubin = {
    "x......................",  // sm_75
    ".xx..x.................",  // sm_80
    "..x..x.................",  // sm_86
    "...x...................",  // sm_87
    "....x..................",  // sm_88
    ".....x.................",  // sm_89
    "......xx...............",  // sm_90
    "......xx...............",  // sm_90a
    "........xxx............",  // sm_100
    ".........x.............",  // sm_100a
    "........x.x............",  // sm_100f
    "...........xxx.........",  // sm_103
    "............x..........",  // sm_103a
    "...........x.x.........",  // sm_103f
    "..............xxx......",  // sm_110
    "...............x.......",  // sm_110a
    "..............x.x......",  // sm_110f
    ".................xxxxxx",  // sm_120
    "..................x....",  // sm_120a
    ".................x.x...",  // sm_120f
    "....................xxx",  // sm_121
    ".....................x.",  // sm_121a
    "....................x.x",  // sm_121f
};

// PTX; LTO IR too, with and without -lto.
constexpr Table kPtx = {
    "xxxxxxxxxxxxxxxxxxxxxxx",  // sm_75
    ".xxxxxxxxxxxxxxxxxxxxxx",  // sm_80
    "..xxxxxxxxxxxxxxxxxxxxx",  // sm_86
    "...xxxxxxxxxxxxxxxxxxxx",  // sm_87
    "....xxxxxxxxxxxxxxxxxxx",  // sm_88
    ".....xxxxxxxxxxxxxxxxxx",  // sm_89
    "......xxxxxxxxxxxxxxxxx",  // sm_90
    ".......x...............",  // sm_90a
    "........xxxxxxxxxxxxxxx",  // sm_100
    ".........x.............",  // sm_100a
    "........xxxxxx.........",  // sm_100f
    "...........xxxxxxxxxxxx",  // sm_103
    "............x..........",  // sm_103a
    "...........xxx.........",  // sm_103f
    "..............xxxxxxxxx",  // sm_110
    "...............x.......",  // sm_110a
    "..............xxx......",  // sm_110f
    ".................xxxxxx",  // sm_120
    "..................x....",  // sm_120a
    ".................xxxxxx",  // sm_120f
    "....................xxx",  // sm_121
    ".....................x.",  // sm_121a
    "....................xxx",  // sm_121f
};

void CheckTable(const Table& table, CodeCandidate candidate, CodeChoiceOptions options) {
  for (std::size_t member = 0; member < kArchs.size(); ++member) {
    for (std::size_t target = 0; target < kArchs.size(); ++target) {
      CAPTURE(kArchs[member], kArchs[target]);
      candidate.arch = ArchOf(kArchs[member]);
      const CodeChoice choice = ChooseCode({&candidate, 1}, ArchOf(kArchs[target]), options);
      const bool usable = choice.index.has_value() || choice.needs_lto;
      CHECK(usable == (table[member][target] == 'x'));
      CHECK(choice.needs_lto == (usable && candidate.kind == CodeKind::kNvvm && !options.lto));
    }
  }
}

TEST_CASE("Every member is taken for the targets nvlink takes it for", "[code_choice]") {
  CheckTable(kCubin, {CodeKind::kSass, {}, true, true}, {});
  CheckTable(kOldCubin, {CodeKind::kSass, {}, true, false}, {});
  CheckTable(kPtx, {CodeKind::kPtx, {}, true, true}, {});
  CheckTable(kPtx, {CodeKind::kNvvm, {}, true, true}, {});
  CheckTable(kPtx, {CodeKind::kNvvm, {}, true, true}, {.lto = true});
  CheckTable(kPtx, {CodeKind::kPtx, {}, true, true}, {.virtual_target = true});
  CheckTable(kPtx, {CodeKind::kNvvm, {}, true, true}, {.lto = true, .virtual_target = true});
}

TEST_CASE("SassLinksFor is nvlink's table for cubins", "[code_choice]") {
  for (std::size_t member = 0; member < kArchs.size(); ++member) {
    for (std::size_t target = 0; target < kArchs.size(); ++target) {
      CAPTURE(kArchs[member], kArchs[target]);
      CHECK(SassLinksFor(ArchOf(kArchs[member]), ArchOf(kArchs[target])) ==
            (kCubin[member][target] == 'x'));
    }
  }
}

CodeCandidate Sass(std::string_view arch) { return {CodeKind::kSass, ArchOf(arch), true, true}; }
CodeCandidate Ptx(std::string_view arch) { return {CodeKind::kPtx, ArchOf(arch), true, true}; }
CodeCandidate Lto(std::string_view arch) { return {CodeKind::kNvvm, ArchOf(arch), true, true}; }

TEST_CASE("Which of several codes goes first", "[code_choice]") {
  const auto choose = [](const std::vector<CodeCandidate>& candidates, std::string_view target,
                         CodeChoiceOptions options = {}) {
    const CodeChoice choice = ChooseCode(candidates, ArchOf(target), options);
    REQUIRE(choice.verdicts.size() == candidates.size());
    return choice.index ? static_cast<int>(*choice.index) : -1;
  };
  CHECK(choose({Sass("sm_80"), Ptx("sm_86")}, "sm_86") == 1);
  CHECK(choose({Sass("sm_80"), Sass("sm_86"), Ptx("sm_89")}, "sm_89") == 2);
  CHECK(choose({Sass("sm_90"), Ptx("sm_90a")}, "sm_90a") == 0);
  CHECK(choose({Ptx("sm_100f"), Ptx("sm_103")}, "sm_103a") == 1);
  CHECK(choose({Sass("sm_100"), Sass("sm_100a"), Sass("sm_100f")}, "sm_100") == 1);
  CHECK(choose({Sass("sm_90"), Sass("sm_90")}, "sm_90") == 0);
  CHECK(choose({Sass("sm_90"), Ptx("sm_90"), Lto("sm_80")}, "sm_90", {.lto = true}) == 2);
  CHECK(choose({Sass("sm_80"), Lto("sm_90")}, "sm_90") == -1);
  CHECK(choose({Sass("sm_90"), Ptx("sm_75")}, "sm_90", {.virtual_target = true}) == 1);
  CHECK(choose({}, "sm_90") == -1);
  // Of equals the first, but the last of plain PTX or LTO IR for the target's own number.
  CHECK(choose({Ptx("sm_90"), Ptx("sm_90"), Ptx("sm_90")}, "sm_90a") == 2);
  CHECK(choose({Ptx("sm_89"), Ptx("sm_89")}, "sm_90") == 0);
  CHECK(choose({Ptx("sm_90a"), Ptx("sm_90a")}, "sm_90a") == 0);
  CHECK(choose({Lto("sm_90"), Lto("sm_90")}, "sm_90", {.lto = true}) == 1);
  CHECK(choose({Lto("sm_80"), Lto("sm_80")}, "sm_90", {.lto = true}) == 0);
  // Of plain cubins that without compatibility record.
  CodeCandidate old = Sass("sm_100");
  old.has_compat_record = false;
  CHECK(choose({Sass("sm_100"), old}, "sm_100") == 1);
  CHECK(choose({old, Sass("sm_100")}, "sm_100") == 0);
  CHECK(choose({old, Sass("sm_100f")}, "sm_100") == 1);
}

TEST_CASE("The options change which cubins will do", "[code_choice]") {
  const auto takes = [](CodeCandidate candidate, std::string_view target,
                        CodeChoiceOptions options) {
    return ChooseCode({&candidate, 1}, ArchOf(target), options).index.has_value();
  };
  CHECK(takes(Sass("sm_90a"), "sm_90", {}));
  CHECK_FALSE(takes(Sass("sm_90a"), "sm_90", {.lto = true}));
  CHECK(takes(Sass("sm_90a"), "sm_90a", {.lto = true}));
  CHECK(takes(Sass("sm_100a"), "sm_100", {.lto = true}));
  CHECK_FALSE(takes(Sass("sm_90"), "sm_90", {.virtual_target = true}));
  CHECK(takes(Sass("sm_90"), "sm_90", {.lto = true, .virtual_target = true}));
  CodeCandidate own_number = Sass("sm_100");
  own_number.own_number_only = true;
  CHECK(takes(own_number, "sm_100f", {}));
  CHECK_FALSE(takes(own_number, "sm_103", {}));
}

TEST_CASE("Every candidate is told what became of it", "[code_choice]") {
  std::vector<CodeCandidate> candidates = {Sass("sm_80"), Ptx("sm_86"), Sass("sm_90"),
                                           Lto("sm_80"),  Ptx("sm_75"), {}};
  candidates[4].is_64bit = false;
  const Arch target = ArchOf("sm_86");
  const CodeChoice choice = ChooseCode(candidates, target);
  CHECK(choice.index == 1U);
  CHECK_FALSE(choice.needs_lto);
  const std::vector<CodeVerdict> verdicts = {CodeVerdict::kNotPreferred, CodeVerdict::kChosen,
                                             CodeVerdict::kWrongArch,    CodeVerdict::kNeedsLto,
                                             CodeVerdict::kNot64Bit,     CodeVerdict::kUnknownKind};
  CHECK(choice.verdicts == verdicts);
  const auto explain = [&](std::size_t i) { return ExplainVerdict(candidates, choice, i, target); };
  CHECK(explain(0) ==
        "the cubin for sm_80 would do for sm_86, but the PTX for compute_86 (member 1) has the "
        "higher architecture");
  CHECK(explain(1) == "the PTX for compute_86 is taken for sm_86");
  CHECK(explain(2) == "the cubin for sm_90 does not run on sm_86");
  CHECK(explain(3) == "the LTO IR for lto_80 would do for sm_86, but only in a link with LTO");
  CHECK(explain(4) == "the PTX for compute_75 is not 64-bit code");
  CHECK(explain(5) == "code of an unknown kind is never taken");
}

}  // namespace
}  // namespace devlink::testing
