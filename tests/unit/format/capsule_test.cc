// SPDX-License-Identifier: Apache-2.0
#include "format/capsule.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "support/catch.h"

namespace devlink::format {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A capsule of so many instructions; bit i of `elided`: the i-th has no record.
Bytes Capsule(std::uint32_t instructions, std::uint32_t elided,
              std::initializer_list<Bytes> records) {
  Bytes out = {7, 0, 0, 0, 1, 0, 0, 0xc0};
  for (const std::uint32_t word : {instructions, elided}) {
    for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
  for (const Bytes& record : records) out.insert(out.end(), record.begin(), record.end());
  return out;
}

Bytes Record(std::uint8_t first, std::size_t size) {
  Bytes out(size);
  out.front() = first;
  return out;
}

Bytes Counted(std::uint32_t count, const Bytes& record) {
  const std::uint32_t head = count << 7 | (record.empty() ? 0x50U : 0x51U);
  Bytes out = {static_cast<std::uint8_t>(head), static_cast<std::uint8_t>(head >> 8)};
  out.insert(out.end(), record.begin(), record.end());
  return out;
}

std::vector<std::uint32_t> Find(const Bytes& capsule, const std::vector<std::uint32_t>& wanted) {
  std::vector<std::uint32_t> out;
  REQUIRE(FindCapsuleConstants(capsule, wanted, out).ok());
  return out;
}

constexpr std::uint32_t kRecords = 16;  // where they begin, up to 32 instructions
constexpr std::uint32_t kConstant = 28;

TEST_CASE("A capsule stands for all instructions and ends with its records", "[capsule]") {
  // elided, long, short, two without a record, five by one
  Bytes capsule = Capsule(
      5, 1, {Record(0x02, 32), Record(0x41, 4), Counted(2, {}), Counted(5, Record(0x01, 16))});
  CHECK(CheckCapsule(capsule, 10, false).ok());
  CHECK_FALSE(CheckCapsule(capsule, 9, false).ok());
  CHECK_FALSE(CheckCapsule(capsule, 11, false).ok());
  for (std::size_t size = 0; size < capsule.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(CheckCapsule(Bytes(capsule.begin(), capsule.begin() + size), 10, false).ok());
  }
  capsule.push_back(0);
  CHECK_FALSE(CheckCapsule(capsule, 10, false).ok());
  CHECK_FALSE(CheckCapsule(Capsule(0, 0, {}), 0, false).ok());  // a word of the bitmap too many
  // A form that a later assembler may have is no damage.
  for (const bool later : {false, true}) {
    CHECK(CheckCapsule(Capsule(1, 0, {Record(0x03, 5)}), 1, later).ok() == later);
    CHECK(CheckCapsule(Capsule(1, 0, {Counted(1, Record(0x03, 5))}), 1, later).ok() == later);
  }
}

TEST_CASE("Constants stand in long records", "[capsule]") {
  // elided, long, short, long
  const Bytes capsule = Capsule(4, 1, {Record(0x02, 32), Record(0x41, 4), Record(0x02, 32)});
  CHECK(Find(capsule, {1, 3}) ==
        std::vector<std::uint32_t>{kRecords + kConstant, kRecords + 32 + 4 + kConstant});
  // No record, and one without room for a place.
  CHECK(Find(capsule, {0, 2}) == std::vector<std::uint32_t>{0, 0});
  CHECK(Find(capsule, {}).empty());
  // Behind all records.
  CHECK(Find(capsule, {9}) == std::vector<std::uint32_t>{0});
}

TEST_CASE("Records may stand for several instructions of machine code", "[capsule]") {
  // three without Mercury code, a long one that became two, a plain long one
  const Bytes capsule =
      Capsule(3, 0, {Counted(3, {}), Counted(2, Record(0x02, 32)), Record(0x02, 32)});
  const std::uint32_t first = kRecords + 2 + 2;
  CHECK(Find(capsule, {0, 3, 4, 5}) ==
        std::vector<std::uint32_t>{0, first + kConstant, 0, first + 32 + kConstant});
}

// As ptxas puts thousands of them into kernels with tensor memory (CUTLASS's).
TEST_CASE("Records may stand for nothing in machine code", "[capsule]") {
  // two of them, a long one, another of them, and an elided one
  const Bytes capsule =
      Capsule(5, 0x10, {Record(0x31, 16), Record(0x31, 16), Record(0x02, 32), Record(0x31, 16)});
  CHECK(CheckCapsule(capsule, 2, false).ok());
  CHECK_FALSE(CheckCapsule(capsule, 5, false).ok());
  CHECK(Find(capsule, {0, 1}) == std::vector<std::uint32_t>{kRecords + 32 + kConstant, 0});
}

TEST_CASE("A capsule that does not add up is an error", "[capsule][damage]") {
  const Bytes sound = Capsule(2, 0, {Record(0x02, 32), Record(0x01, 16)});
  const std::vector<std::uint32_t> wanted = {1};
  std::vector<std::uint32_t> out;
  REQUIRE(FindCapsuleConstants(sound, wanted, out).ok());
  for (std::size_t size = 0; size < sound.size(); ++size) {
    const Bytes cut(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size));
    INFO("cut to " << size);
    CHECK_FALSE(FindCapsuleConstants(cut, wanted, out).ok());
  }
  CHECK_FALSE(
      FindCapsuleConstants(Capsule(2, 0, {Record(0x03, 32), Record(0x01, 16)}), wanted, out).ok());
  CHECK_FALSE(FindCapsuleConstants(Capsule(0xffffffff, 0, {Record(0x02, 32)}), wanted, out).ok());
}

}  // namespace
}  // namespace devlink::format
