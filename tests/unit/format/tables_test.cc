// SPDX-License-Identifier: Apache-2.0
//
// The tables of facts that several rooms read.
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/call_graph_records.h"
#include "format/nv_info.h"
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
    CHECK(symbols(id, format::kInfoSized).least_payload == 8);
    CHECK(symbols(id, format::kInfoHalfValue).count == 0);
  }
  CHECK(symbols(format::kAttrParamCbank, format::kInfoSized).kind == InfoSymbols::kSectionSymbol);
  CHECK(symbols(format::kAttrExterns, format::kInfoSized).count == 3);
  CHECK(symbols(format::kAttrExterns, format::kInfoSized).least_payload == 12);
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

}  // namespace
}  // namespace devlink::testing
