// SPDX-License-Identifier: Apache-2.0
#include "format/line_table.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "support/catch.h"
#include "support/line_table.h"

namespace devlink::format {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::kLineAddress;
using testing::kLineHeader;
using testing::LineSequence;
using testing::LineUnit;

auto Named(const std::map<std::uint64_t, std::uint32_t>& symbols) {
  return [&symbols](std::uint64_t offset) -> std::optional<std::uint32_t> {
    const auto found = symbols.find(offset);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST_CASE("Sequences without a relocation go, the others are sorted by symbol", "[lines]") {
  const Bytes first = LineSequence(1);
  const Bytes second = LineSequence(2);
  const Bytes third = LineSequence(3);
  const Bytes table = LineUnit({first, second, third});
  const std::size_t size = first.size();
  const std::map<std::uint64_t, std::uint32_t> symbols = {
      {kLineHeader + kLineAddress, 9}, {kLineHeader + 2 * size + kLineAddress, 4}};
  const auto kept = KeepLines(table, Named(symbols));
  REQUIRE(kept.has_value());
  CHECK(kept->bytes == LineUnit({third, first}));
  CHECK(kept->PlaceOf(kLineHeader + 2 * size + kLineAddress) == kLineHeader + kLineAddress);
  CHECK(kept->PlaceOf(kLineHeader + kLineAddress) == kLineHeader + size + kLineAddress);
  CHECK_FALSE(kept->PlaceOf(kLineHeader + size + kLineAddress).has_value());
  CHECK(kept->PlaceOf(0) == 0);
  CHECK_FALSE(kept->PlaceOf(table.size()).has_value());
}

TEST_CASE("Each unit stays, though it be empty", "[lines]") {
  Bytes table = LineUnit({LineSequence(1)});
  const Bytes second = LineUnit({LineSequence(2)});
  const std::size_t begin = table.size();
  table.insert(table.end(), second.begin(), second.end());
  const std::map<std::uint64_t, std::uint32_t> symbols = {{begin + kLineHeader + kLineAddress, 1}};
  const auto kept = KeepLines(table, Named(symbols));
  REQUIRE(kept.has_value());
  Bytes expected = LineUnit({});
  CHECK(kept->PlaceOf(begin) == expected.size());
  expected.insert(expected.end(), second.begin(), second.end());
  CHECK(kept->bytes == expected);
}

TEST_CASE("Lines are read as they stand", "[lines]") {
  const Bytes first = LineSequence(1, 4);
  const Bytes second = LineSequence(2);
  Bytes bytes = LineUnit({first, second});
  const std::size_t begin = bytes.size();
  const Bytes unit = LineUnit({second});
  bytes.insert(bytes.end(), unit.begin(), unit.end());
  const auto table = LineTable::Read(bytes);
  REQUIRE(table.has_value());
  REQUIRE(table->units().size() == 2);
  const auto sequences = table->SequencesOf(table->units()[0]);
  REQUIRE(sequences.size() == 2);
  CHECK(sequences[1].begin == kLineHeader + first.size());
  CHECK(sequences[1].end == begin);
  REQUIRE(table->AddressesOf(sequences[1]).size() == 1);
  CHECK(table->AddressesOf(sequences[1])[0] == sequences[1].begin + kLineAddress);
  CHECK(table->units()[1].begin == begin);
  CHECK(table->units()[1].program == begin + kLineHeader);
  CHECK(table->SequencesOf(table->units()[1]).size() == 1);
}

TEST_CASE("Bytes that are not a line table are left alone", "[lines][damage]") {
  const Bytes table = LineUnit({LineSequence(1), LineSequence(2)});
  const std::map<std::uint64_t, std::uint32_t> symbols;
  for (std::size_t size = 1; size < table.size(); ++size) {
    const Bytes cut(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(size));
    INFO("cut to " << size);
    CHECK_FALSE(KeepLines(cut, Named(symbols)).has_value());
  }
  for (std::size_t at = 0; at < table.size(); ++at) {
    for (const std::uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      Bytes damaged = table;
      damaged[at] = value;
      (void)KeepLines(damaged, Named(symbols));  // ends, and reads nothing outside
    }
  }
}

}  // namespace
}  // namespace devlink::format
