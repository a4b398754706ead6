// SPDX-License-Identifier: Apache-2.0
#include "image/lines.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "support/catch.h"

namespace devlink::internal {
namespace {

using Bytes = std::vector<std::uint8_t>;

void Append(const Bytes& bytes, Bytes& out) {
  for (const std::uint8_t byte : bytes) out.push_back(byte);
}

void Append32(std::uint32_t value, Bytes& out) {
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

constexpr std::size_t kHeader = 27;  // of a unit, from its first byte to its program
constexpr std::size_t kAddress = 3;  // of a sequence: where its address stands

// A sequence that sets an address, advances, and ends.
Bytes Sequence(std::uint8_t line) {
  Bytes out = {0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0};
  // advance_line, fixed_advance_pc, copy, advance_pc, end_sequence
  Append({3, line, 9, 16, 0, 1, 2, 0x81, 1, 0, 1, 1}, out);
  return out;
}

Bytes Unit(const std::vector<Bytes>& sequences) {
  Bytes rest = {2, 0};
  Append32(kHeader - 10, rest);
  const Bytes header = {1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0};
  Append(header, rest);
  for (const Bytes& sequence : sequences) Append(sequence, rest);
  Bytes out;
  Append32(static_cast<std::uint32_t>(rest.size()), out);
  Append(rest, out);
  return out;
}

Section SectionOf(const Bytes& bytes) {
  Section out;
  out.size = bytes.size();
  out.pieces.push_back({bytes, 0});
  return out;
}

SymbolAt Named(const std::map<std::uint64_t, std::uint32_t>& symbols) {
  return [&symbols](std::uint64_t offset) -> std::optional<std::uint32_t> {
    const auto found = symbols.find(offset);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST_CASE("Sequences without a relocation go, the others are sorted by symbol", "[lines]") {
  const Bytes first = Sequence(1);
  const Bytes second = Sequence(2);
  const Bytes third = Sequence(3);
  const Bytes table = Unit({first, second, third});
  const std::size_t size = first.size();
  const std::map<std::uint64_t, std::uint32_t> symbols = {{kHeader + kAddress, 9},
                                                          {kHeader + 2 * size + kAddress, 4}};
  const auto kept = KeepLines(SectionOf(table), Named(symbols));
  REQUIRE(kept.has_value());
  CHECK(kept->bytes == Unit({third, first}));
  CHECK(kept->PlaceOf(kHeader + 2 * size + kAddress) == kHeader + kAddress);
  CHECK(kept->PlaceOf(kHeader + kAddress) == kHeader + size + kAddress);
  CHECK_FALSE(kept->PlaceOf(kHeader + size + kAddress).has_value());
  CHECK(kept->PlaceOf(0) == 0);
  CHECK_FALSE(kept->PlaceOf(table.size()).has_value());
}

TEST_CASE("Each unit stays, though it be empty", "[lines]") {
  Bytes table = Unit({Sequence(1)});
  const Bytes second = Unit({Sequence(2)});
  const std::size_t begin = table.size();
  Append(second, table);
  const std::map<std::uint64_t, std::uint32_t> symbols = {{begin + kHeader + kAddress, 1}};
  const auto kept = KeepLines(SectionOf(table), Named(symbols));
  REQUIRE(kept.has_value());
  Bytes expected = Unit({});
  CHECK(kept->PlaceOf(begin) == expected.size());
  Append(second, expected);
  CHECK(kept->bytes == expected);
}

TEST_CASE("Bytes that are not a line table are left alone", "[lines][damage]") {
  const Bytes table = Unit({Sequence(1), Sequence(2)});
  const std::map<std::uint64_t, std::uint32_t> symbols;
  for (std::size_t size = 1; size < table.size(); ++size) {
    const Bytes cut(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(size));
    INFO("cut to " << size);
    CHECK_FALSE(KeepLines(SectionOf(cut), Named(symbols)).has_value());
  }
  for (std::size_t at = 0; at < table.size(); ++at) {
    for (const std::uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      Bytes damaged = table;
      damaged[at] = value;
      (void)KeepLines(SectionOf(damaged), Named(symbols));  // ends, and reads nothing outside
    }
  }
}

}  // namespace
}  // namespace devlink::internal
