// SPDX-License-Identifier: Apache-2.0
#include "format/line_program.h"

#include <cstdint>
#include <random>
#include <vector>

#include "support/catch.h"
#include "support/line_table.h"

namespace devlink::format {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr LineScale kScale{.unit = 1, .line_base = -5, .line_range = 14, .opcode_base = 10};

constexpr std::uint64_t kMostRows = 100;

constexpr std::uint8_t kCopy = 1;
constexpr std::uint8_t kAdvance = 2;
constexpr std::uint8_t kLine = 3;
constexpr std::uint8_t kFile = 4;

const Bytes kSetAddress = {0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0};
const Bytes kEnd = {0, 1, 1};

Bytes Joined(std::initializer_list<Bytes> parts) {
  Bytes out;
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

TEST_CASE("Rows have what stands in front of them", "[lines]") {
  // Line 5 at 0, line 6 at 16 by one instruction, line 3 of another file at 48, the end at 128.
  const Bytes sequence = Joined({kSetAddress,
                                 {kFile, 1, kLine, 4, kCopy, 0xf0},
                                 {kFile, 2, kLine, 0x7d, kAdvance, 32, kCopy},
                                 {kAdvance, 0xd0, 0},
                                 kEnd});
  const auto program = ReadLineProgram(sequence, kScale, kMostRows);
  REQUIRE(program.has_value());
  REQUIRE(program->rows.size() == 3);
  CHECK(program->rows[0].before == std::vector<LineInstruction>{kSetAddress, {kFile, 1}});
  CHECK(program->rows[0].line == 5);
  CHECK(program->rows[1].place == 16);
  CHECK(program->rows[1].line == 6);
  CHECK(program->rows[1].before.empty());
  CHECK(program->rows[2].place == 48);
  CHECK(program->rows[2].line == 3);
  CHECK(program->rows[2].before == std::vector<LineInstruction>{{kFile, 2}});
  CHECK(StateSetBy(program->rows[2].before[0]) == LineState::kFile);
  CHECK(StateSetBy({5, 3}) == LineState::kColumn);
  CHECK_FALSE(StateSetBy(kSetAddress).has_value());
  CHECK_FALSE(StateSetBy({0, 2}).has_value());
  CHECK_FALSE(StateSetBy({}).has_value());
  CHECK(program->end == 128);
  CHECK(WriteLineProgram(*program, kScale) == sequence);
}

TEST_CASE("The Mercury view says which row begins a function", "[lines]") {
  const Bytes sequence = Joined({kSetAddress,
                                 {kFile, 1, 0, 2, 0x92, 1, kLine, 4, kCopy},
                                 {kFile, 1, 0, 2, 0x92, 0, 0xf4},
                                 kEnd});
  const auto program = ReadLineProgram(sequence, kScale, kMostRows);
  REQUIRE(program.has_value());
  REQUIRE(program->rows.size() == 2);
  CHECK(program->rows[0].begins_function);
  CHECK_FALSE(program->rows[1].begins_function);
  // It is not written.
  CHECK(WriteLineProgram(*program, kScale) ==
        Joined({kSetAddress, {kFile, 1, kLine, 4, kCopy}, {kFile, 1, 0xf4}, kEnd}));
}

TEST_CASE("Inlined code names the row that calls it", "[lines]") {
  const LineInstruction near = {0, 3, 0x90, 4, 10};
  CHECK(StateSetBy(near) == LineState::kInlined);
  CHECK(CallingRow(near) == 4);
  CHECK(WithCallingRow(near, 4) == near);
  const LineInstruction far = {0, 4, 0x90, 0x81, 1, 10};
  CHECK(CallingRow(far) == 129);
  CHECK(WithCallingRow(near, 129) == far);
  CHECK(WithCallingRow(far, 4) == near);
  // Cut short, or of more bits than there are.
  CHECK_FALSE(CallingRow({0, 2, 0x90, 0x81}).has_value());
  CHECK_FALSE(CallingRow({0, 1, 0x90}).has_value());
  LineInstruction wide = {0, 14, 0x90};
  wide.insert(wide.end(), 13, 0x81);
  CHECK_FALSE(CallingRow(wide).has_value());
  CHECK_FALSE(CallingRow({4, 1}).has_value());
}

TEST_CASE("Any rows come back", "[lines]") {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 2000; ++round) {
    LineProgram program;
    std::uint64_t place = 0;
    for (std::uint64_t i = below(20); i > 0; --i) {
      LineRow row;
      place += below(4) == 0 ? below(1U << below(30)) : 16 * below(4);
      row.place = place;
      row.line = static_cast<std::int64_t>(below(1U << below(20))) - 3;
      program.rows.push_back(row);
    }
    program.end = place + 16 * below(3);
    const auto read = ReadLineProgram(WriteLineProgram(program, kScale), kScale, kMostRows);
    REQUIRE(read.has_value());
    REQUIRE(read->rows.size() == program.rows.size());
    CHECK(read->end == program.end);
    for (std::size_t i = 0; i < program.rows.size(); ++i) {
      CHECK(read->rows[i].place == program.rows[i].place);
      CHECK(read->rows[i].line == program.rows[i].line);
    }
  }
}

TEST_CASE("What is not one sequence is refused", "[lines]") {
  const Bytes whole = Joined({kSetAddress, {kLine, 4, kCopy, kAdvance, 16}, kEnd});
  REQUIRE(ReadLineProgram(whole, kScale, kMostRows).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(ReadLineProgram(base::Bytes(whole).first(size), kScale, kMostRows).has_value());
  }
  CHECK_FALSE(ReadLineProgram(Joined({whole, {kCopy}}), kScale, kMostRows).has_value());
  CHECK_FALSE(ReadLineProgram(Joined({{0, 0}, kEnd}), kScale, kMostRows).has_value());
  CHECK_FALSE(ReadLineProgram(Joined({Bytes(12, 0x83), kEnd}), {.opcode_base = 200}, kMostRows)
                  .has_value());
  // Numbers of any size wrap.
  const Bytes large(9, 0xff);
  const auto wrapped = ReadLineProgram(
      Joined(
          {{kLine}, large, {0x7e, kCopy, kLine}, large, {0x7e, kCopy, kAdvance}, large, {1}, kEnd}),
      kScale, kMostRows);
  CHECK(wrapped.has_value());
  CHECK_FALSE(ReadLineProgram(whole, kScale, 0).has_value());
}

TEST_CASE("How a unit counts is in its head", "[lines]") {
  const Bytes unit = testing::LineUnit({}, 4);
  const auto scale = ReadLineScale(unit);
  REQUIRE(scale.has_value());
  CHECK(scale->unit == 4);
  CHECK(scale->line_base == -5);
  CHECK(scale->line_range == 14);
  CHECK(scale->opcode_base == 10);
  CHECK_FALSE(ReadLineScale(base::Bytes(unit).first(14)).has_value());
  for (const std::size_t zero : {10U, 13U, 14U}) {
    Bytes damaged = unit;
    damaged[zero] = 0;
    CHECK_FALSE(ReadLineScale(damaged).has_value());
  }
}

}  // namespace
}  // namespace devlink::format
