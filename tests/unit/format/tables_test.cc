// SPDX-License-Identifier: Apache-2.0
//
// The tables of facts that several rooms read.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/arch.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/sm_traits.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using format::InfoSymbols;
using format::InfoTravel;

TEST_CASE("Attributes have the names that NVIDIA's tools print", "[format]") {
  CHECK(format::InfoAttributeName(format::kAttrRegCount) == "REGCOUNT");
  CHECK(format::InfoAttributeName(format::kAttrExterns) == "EXTERNS");
  CHECK(format::InfoAttributeName(0x5f) == "MERCURY_ISA_VERSION");
  CHECK(format::InfoAttributeName(0x60).empty());
  CHECK(format::InfoAttributeName(0xff).empty());
}

TEST_CASE("The words of a record that are symbols follow from its attribute", "[format]") {
  const std::vector<std::uint8_t> payload(12);
  const auto symbols = [&](std::uint8_t id, std::uint8_t form) {
    return format::SymbolsOf({.format = form, .id = id, .value = 12, .payload = payload});
  };
  for (const std::uint8_t id :
       {format::kAttrRegCount, format::kAttrFrameSize, format::kAttrMinStackSize,
        format::kAttrMaxStackSize, format::kAttrSamplerInit}) {
    CAPTURE(id);
    CHECK(symbols(id, format::kInfoSized).kind == InfoSymbols::kOne);
    CHECK(symbols(id, format::kInfoSized).count == 1);
    CHECK(symbols(id, format::kInfoHalfValue).count == 0);
  }
  CHECK(symbols(format::kAttrParamCbank, format::kInfoSized).kind == InfoSymbols::kSectionSymbol);
  CHECK(symbols(format::kAttrExterns, format::kInfoSized).count == 3);
  CHECK(symbols(format::kAttrCrsStackSize, format::kInfoSized).count == 0);
  CHECK(symbols(0xff, format::kInfoSized).count == 0);
}

TEST_CASE("Attributes that travel say how", "[format]") {
  CHECK(format::FindInfoAttribute(format::kAttrNumBarriers).travel == InfoTravel::kMaximum);
  CHECK(format::FindInfoAttribute(format::kAttrNumMbarriers).travel == InfoTravel::kSum);
  CHECK(format::FindInfoAttribute(format::kAttrNumMbarriers).appended_as == format::kInfoHalfValue);
  CHECK(format::FindInfoAttribute(format::kAttrMaxRegCount).travel == InfoTravel::kStays);
  CHECK(format::FindInfoAttribute(0xff).travel == InfoTravel::kStays);
}

std::vector<std::uint8_t> Words(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint8_t> out;
  for (const std::uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8) {
      out.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  }
  return out;
}

TEST_CASE("A call graph's pairs come with their list", "[format]") {
  using List = format::CallGraphList;
  const std::vector<std::uint8_t> bytes =
      Words({7, 8,                                                  // before any marker
             0, format::CallGraphMarker(List::kCalls), 1, 2, 0, 3,  // symbol 0 is a symbol, too
             0, format::CallGraphMarker(List::kIndirectCallers), 4, 0x80000000, 9});
  format::CallGraphReader reader(bytes);
  format::CallGraphPair pair;
  struct Expected {
    List list;
    std::uint32_t first;
    std::uint32_t second;
  };
  for (const Expected& expected :
       {Expected{List::kNone, 7, 8}, Expected{List::kCalls, 1, 2}, Expected{List::kCalls, 0, 3},
        Expected{List::kIndirectCallers, 4, 0x80000000}}) {
    REQUIRE(reader.Next(pair));
    CHECK(pair.list == expected.list);
    CHECK(pair.first == expected.first);
    CHECK(pair.second == expected.second);
  }
  CHECK_FALSE(reader.Next(pair));  // half a pair is none
  CHECK(format::HoldsSymbolPairs(List::kCalls));
  CHECK(format::HoldsSymbolPairs(List::kAddressTakers));
  CHECK_FALSE(format::HoldsSymbolPairs(List::kAddressesTaken));
  CHECK_FALSE(format::HoldsSymbolPairs(List::kIndirectCallers));
}

TEST_CASE("Every architecture has its own row, by number", "[format]") {
  unsigned before = 0;
  for (const format::SmTraits& row : format::AllSmTraits()) {
    CAPTURE(row.number);
    CHECK(row.number > before);
    CHECK(&format::TraitsOf(row.number) == &row);
    CHECK(row.has_compat == (row.reserved_shared != 0));
    before = row.number;
  }
  CHECK(format::TraitsOf(89).reserved_shared == 0);
  CHECK(format::TraitsOf(90).reserved_shared == 0x400);
  CHECK(format::TraitsOf(90).oldest_toolkit == 120);
  CHECK_FALSE(format::TraitsOf(90).has_mercury);
  CHECK(format::TraitsOf(100).has_mercury);
  CHECK(format::TraitsOf(101).number == 100);  // unknown: as the one before it
  CHECK(format::TraitsOf(0).number == 75);
}

TEST_CASE("A virtual architecture has a name that reads back", "[format]") {
  for (const format::SmTraits& row : format::AllSmTraits()) {
    const std::string variants = std::string(row.variants) + '\0';
    for (const char variant : variants) {
      const Arch arch{row.number, variant};
      CAPTURE(arch.Name());
      CHECK(arch.VirtualName() == "compute_" + arch.Name().substr(3));
      const auto read = Arch::ParseVirtual(arch.VirtualName());
      REQUIRE(read.ok());
      CHECK(*read == arch);
      CHECK_FALSE(Arch::ParseVirtual(arch.Name()).ok());
      CHECK_FALSE(Arch::Parse(arch.VirtualName()).ok());
    }
  }
  REQUIRE(Arch::ParseLto("lto_90a").ok());
  CHECK(*Arch::ParseLto("lto_90a") == Arch{90, 'a'});
  CHECK_FALSE(Arch::ParseLto("lto_77").ok());
  CHECK_FALSE(Arch::ParseLto("compute_80").ok());
  CHECK_FALSE(Arch::ParseVirtual("compute_").ok());
  CHECK_FALSE(Arch::ParseVirtual("compute_90f").ok());
  CHECK_FALSE(Arch::ParseVirtual("").ok());
}

TEST_CASE("The number of an architecture stands in e_flags", "[format]") {
  CHECK(format::MakeElfFlags(3, 90, 4) == 0x03005a04);
  format::Ehdr header = {};
  header.flags = 0x03005a04;
  CHECK(format::SmOf(header) == 90);
  header.flags = 0x03015a04;
  CHECK(format::SmOf(header) == 0x15a);
}

TEST_CASE("The note's index in e_flags stops at what a byte can hold", "[format]") {
  CHECK(format::MakeElfFlags(254, 80, 4) == 0xfe005004);
  CHECK(format::MakeElfFlags(255, 80, 4) == 0xff005004);
  CHECK(format::MakeElfFlags(260, 80, 4) == 0xff005004);
}

TEST_CASE("A relocation is of an instruction that has what it fills", "[format]") {
  using format::CanBeOfInstruction;
  struct Instruction {
    std::uint32_t word;
    bool has_number;
    bool has_constant;
    bool leads_elsewhere;
  };
  // As they stand in code for sm_80, with their predicates.
  const Instruction instructions[] = {
      {.word = 0x00047802, .has_number = true},       // MOV R4, 0x...
      {.word = 0x00047882, .has_number = true},       // UMOV UR4, 0x...
      {.word = 0x04047424, .has_number = true},       // IMAD.MOV with a number
      {.word = 0x00017a02, .has_constant = true},     // MOV R1, c[0x0][...]
      {.word = 0xff017624, .has_constant = true},     // IMAD.MOV with a constant
      {.word = 0x00007943, .leads_elsewhere = true},  // CALL.ABS
      {.word = 0x0000794a, .leads_elsewhere = true},  // JMP
      {.word = 0x04047981},                           // LDG
      {.word = 0x00007918},                           // NOP
      {.word = 0x0000794d},                           // EXIT
      {.word = 0x02007210},                           // IADD3 of registers
  };
  for (const Instruction& instruction : instructions) {
    CAPTURE(instruction.word);
    for (const std::uint32_t type : {0x37U, 0x38U, 0x39U, 0x3bU, 0x3eU, 0x3fU, 0x70U, 0x71U}) {
      CHECK(CanBeOfInstruction(type, instruction.word) == instruction.has_number);
    }
    CHECK(CanBeOfInstruction(0x40, instruction.word) == instruction.has_constant);
    for (const std::uint32_t type : {0x3aU, 0x4bU}) {
      CHECK(CanBeOfInstruction(type, instruction.word) == instruction.leads_elsewhere);
    }
    CHECK(CanBeOfInstruction(0x4a, instruction.word));  // of which too little is known
  }
}

TEST_CASE("Relocations of code are none of data, and the other way round", "[format]") {
  using format::CanBeIn;
  using format::FieldPlace;
  constexpr std::uint32_t k64 = 0x02;
  constexpr std::uint32_t kAbs32Lo = 0x38;
  constexpr std::uint32_t kClear = 0x49;
  CHECK(CanBeIn(k64, FieldPlace::kData));
  CHECK(CanBeIn(k64, FieldPlace::kDebug));
  CHECK_FALSE(CanBeIn(k64, FieldPlace::kCode));
  constexpr std::uint32_t kOfShortInstructions = 0x18;
  CHECK_FALSE(CanBeIn(kOfShortInstructions, FieldPlace::kCode));
  CHECK(CanBeIn(kAbs32Lo, FieldPlace::kCode));
  CHECK_FALSE(CanBeIn(kAbs32Lo, FieldPlace::kData));
  CHECK_FALSE(CanBeIn(kAbs32Lo, FieldPlace::kDebug));
  CHECK(CanBeIn(kClear, FieldPlace::kDebug));
  CHECK_FALSE(CanBeIn(kClear, FieldPlace::kCode));
  constexpr std::uint32_t kMercuryAbs64 = 0x10002;
  constexpr std::uint32_t kMercuryUnified = 0x10032;
  for (const FieldPlace place : {FieldPlace::kCode, FieldPlace::kData, FieldPlace::kDebug}) {
    CHECK(CanBeIn(kMercuryAbs64, place));
    CHECK(CanBeIn(kMercuryUnified, place) == (place == FieldPlace::kData));
  }
}

}  // namespace
}  // namespace devlink::testing
