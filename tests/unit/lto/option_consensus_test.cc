// SPDX-License-Identifier: Apache-2.0
//
// What modules want, module after module. nvlink's side of it is in tests/link/lto_options_test.cc.
#include "devlink/experimental/option_consensus.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "lto/consensus_table.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using internal::ConsensusEvent;
using internal::NextState;
using enum MemberOption;
using enum ConsensusState;

OptionConsensus ConsensusOf(std::initializer_list<const char*> texts) {
  OptionConsensus out;
  char name = 'a';
  for (const char* text : texts) out.Vote(std::string(1, name++) + ".o", text);
  return out;
}

std::string Rendered(const std::vector<Diagnostic>& found) {
  std::string out;
  for (const Diagnostic& diagnostic : found) out += RenderDiagnostic(diagnostic, "nvlink");
  return out;
}

TEST_CASE("No module has thousands of threads started", "[consensus]") {
  for (const auto& [threads, taken] : {std::pair("256", true), std::pair("257", false)}) {
    OptionConsensus consensus;
    consensus.Vote("a.o", std::string("-split-compile ") + threads + " ");
    std::vector<Diagnostic> found;
    CHECK(consensus.Resolve({}, &found).ok() == taken);
    CHECK(found.size() == (taken ? 0 : 1));
  }
}

TEST_CASE("A value, its absence and two values are told apart", "[lto]") {
  CHECK(OptionConsensus().state(kFtz) == kNone);
  CHECK(ConsensusOf({"", ""}).state(kFtz) == kNone);
  CHECK(ConsensusOf({"-ftz=1", "-ftz=1"}).state(kFtz) == kValue);
  CHECK(ConsensusOf({"-ftz=1", ""}).state(kFtz) == kMixed);
  CHECK(ConsensusOf({"", "-ftz=1"}).state(kFtz) == kMixed);
  CHECK(ConsensusOf({"-ftz=1", "", "-ftz=1"}).state(kFtz) == kMixed);
  CHECK(ConsensusOf({"-ftz=1", "-ftz=0"}).state(kFtz) == kConflict);
  CHECK(ConsensusOf({"", "-ftz=1", "", "-ftz=0", ""}).state(kFtz) == kConflict);
  CHECK(ConsensusOf({"-ftz=1", "-ftz=0", "-ftz=1"}).state(kFtz) == kConflict);
  CHECK(ConsensusOf({"", "-fmad=0"}).value(kFmad) == 0);
  CHECK(ConsensusOf({"-ftz=1"}).state(kFmad) == kNone);
}

TEST_CASE("The order of modules decides nothing but who is named first", "[lto]") {
  // Every sequence of three votes, against every permutation of itself.
  const std::vector<const char*> votes = {"", "-maxreg 32", "-maxreg 64"};
  for (const char* a : votes) {
    for (const char* b : votes) {
      for (const char* c : votes) {
        const ConsensusState state = ConsensusOf({a, b, c}).state(kMaxRegisters);
        CHECK(ConsensusOf({b, c, a}).state(kMaxRegisters) == state);
        CHECK(ConsensusOf({c, a, b}).state(kMaxRegisters) == state);
        CHECK(ConsensusOf({b, a, c}).state(kMaxRegisters) == state);
      }
    }
  }
}

TEST_CASE("The table of transitions never leaves a conflict", "[lto]") {
  using enum ConsensusEvent;
  for (const ConsensusEvent event : {kAbsent, kSameValue, kOtherValue}) {
    CHECK(NextState(kConflict, event, false) == kConflict);
  }
  CHECK(NextState(kNone, kFirstValue, true) == kValue);
  CHECK(NextState(kNone, kFirstValue, false) == kMixed);
  CHECK(NextState(kMixed, kSameValue, false) == kMixed);
}

TEST_CASE("Numbers are read as strtol does and cut to 32 bits", "[lto]") {
  const std::vector<std::pair<const char*, int>> cases = {{"-maxreg 32", 32},
                                                          {"-maxreg 32abc", 32},
                                                          {"-maxreg  \t\n+40", 40},
                                                          {"-maxreg 040", 40},
                                                          {"-maxreg -3", -3},
                                                          {"-maxreg", 0},
                                                          {"-maxreg ", 0},
                                                          {"-maxreg x", 0},
                                                          {"-maxreg - 3", 0},
                                                          {"-maxreg +-3", 0},
                                                          {"-maxreg 0x20", 0},
                                                          {"-maxreg 4294967328", 32},
                                                          {"-maxreg 2147483648", -2147483647 - 1},
                                                          {"-maxreg 9223372036854775807", -1},
                                                          {"-maxreg 9223372036854775808", -1},
                                                          {"-maxreg 99999999999999999999", -1},
                                                          {"-maxreg -9223372036854775808", 0},
                                                          {"-maxreg -99999999999999999999", 0},
                                                          {"-maxreg 1 -maxreg 2", 1},
                                                          {"foo-maxreg 7", 7}};
  for (const auto& [text, value] : cases) {
    CAPTURE(text);
    const OptionConsensus consensus = ConsensusOf({text});
    // Without the blank behind it, it is not there.
    const bool present = std::string(text) != "-maxreg";
    CHECK(consensus.value(kMaxRegisters) == (present ? std::optional<int>(value) : std::nullopt));
  }
  CHECK(ConsensusOf({"-maxreg=32"}).state(kMaxRegisters) == kNone);
  CHECK(ConsensusOf({"-prec-div=0"}).state(kPrecDiv) == kNone);
  CHECK(ConsensusOf({"-prec_div=0"}).value(kPrecDiv) == 0);
  CHECK(ConsensusOf({"-ftz=true"}).value(kFtz) == 0);
  CHECK(ConsensusOf({"x-generate-line-infox"}).value(kLineInfo) == 1);
}

TEST_CASE("The reason names every module", "[lto]") {
  CHECK(ConsensusOf({"-ftz=1", "-ftz=0"}).Reason(kFtz) == "-ftz: a.o says 1, b.o says 0");
  CHECK(ConsensusOf({"", "-ftz=1", "-ftz=1", ""}).Reason(kFtz) ==
        "-ftz: b.o, c.o say 1, a.o, d.o say nothing");
  CHECK(ConsensusOf({"-generate-line-info", ""}).Reason(kLineInfo) ==
        "-lineinfo: a.o has it, b.o says nothing");
  CHECK(OptionConsensus().Reason(kFmad) == "-fmad: no module takes part");
  OptionConsensus many;
  for (int i = 0; i < 1000; ++i) many.Vote("m", "-fmad=1");
  CHECK(many.Reason(kFmad) == "-fmad: m, m, m, m, m, m, m, m and 992 more say 1");
}

TEST_CASE("Without votes the defaults stand", "[lto]") {
  std::vector<Diagnostic> found;
  const auto agreed = OptionConsensus().Resolve({}, &found);
  REQUIRE(agreed.ok());
  CHECK(found.empty());
  CHECK(agreed->ftz == 0);
  CHECK(agreed->prec_div == 1);
  CHECK(agreed->prec_sqrt == 1);
  CHECK(agreed->fmad == 1);
  CHECK(agreed->max_registers == 0);
  CHECK(!agreed->split_compile.has_value());
  CHECK(!agreed->line_info);
  CHECK(!agreed->inline_info);
}

TEST_CASE("What some modules lack is said in nvlink's words and order", "[lto]") {
  std::vector<Diagnostic> found;
  const auto agreed =
      ConsensusOf({"-maxreg 32 -generate-line-info -ftz=1 -inline-info", "-split-compile 4"})
          .Resolve({}, &found);
  REQUIRE(agreed.ok());
  CHECK(Rendered(found) ==
        "nvlink info    : Some objects do not have '-lineinfo' specified but others do; will build "
        "everything with '-lineinfo'\n"
        "nvlink note    : -lineinfo: a.o has it, b.o says nothing\n"
        "nvlink info    : Some objects do not have '-maxrregcount' specified but others do; will "
        "build everything with '-maxrregcount=32'\n"
        "nvlink note    : -maxrregcount: a.o says 32, b.o says nothing\n");
  CHECK(agreed->max_registers == 32);
  CHECK(agreed->split_compile == 4);
  CHECK(agreed->ftz == 1);
  CHECK(agreed->line_info);
  CHECK(agreed->inline_info);
}

TEST_CASE("The first conflict ends it, after the infos before it", "[lto]") {
  const OptionConsensus consensus =
      ConsensusOf({"-fmad=0 -ftz=0 -generate-line-info -maxreg 8", "-fmad=1 -ftz=1 -maxreg 16 "});
  std::vector<Diagnostic> found;
  const auto agreed = consensus.Resolve({}, &found);
  CHECK(agreed.status().message() ==
        "Cicc option values for '-maxrregcount' do not match: -maxrregcount: a.o says 8, b.o says "
        "16");
  REQUIRE(found.size() == 2);
  CHECK(found[0].severity == Severity::kInfo);
  CHECK(found[1].severity == Severity::kFatal);
  CHECK(found[1].code == DiagnosticCode::kOptionMismatch);
  CHECK(found[1].text == "Cicc option values for '-maxrregcount' do not match");

  // The command line's limit wins, also one that means none; -ftz is next.
  for (const int limit : {40, -1}) {
    found.clear();
    CHECK(!consensus.Resolve({limit}, &found).ok());
    REQUIRE(found.size() == 2);
    CHECK(found[1].text == "Cicc option values for '-ftz' do not match");
  }
}

}  // namespace
}  // namespace devlink::testing
