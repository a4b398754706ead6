// SPDX-License-Identifier: Apache-2.0
//
// Where the head of a unit of a line table says what, and the instructions behind it. DWARF 2 and
// 3, 6.2.4 and 7.21.
#pragma once

#include <cstdint>

namespace devlink::format::dwarf {

// Offsets in the head.
inline constexpr std::uint64_t kVersionAt = 4;
inline constexpr std::uint16_t kLastVersion = 3;  // in which the head is laid out like this
inline constexpr std::uint64_t kHeaderLengthAt = 6;
inline constexpr std::uint64_t kHeaderAt = 10;  // what the header's length counts from
inline constexpr std::uint64_t kUnitAt = 10;
inline constexpr std::uint64_t kLineBaseAt = 12;
inline constexpr std::uint64_t kLineRangeAt = 13;
inline constexpr std::uint64_t kOpcodeBaseAt = 14;
inline constexpr std::uint64_t kOperandCountsAt = 15;

enum Opcode : std::uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePlace = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kNegateStatement = 6,
  kSetBlock = 7,
  kAdvanceByConstant = 8,
  kFixedAdvance = 9,  // its operand is a half word
};
inline constexpr unsigned kLargestOpcode = 255;

enum ExtendedOpcode : std::uint8_t {
  kEndSequence = 1,
  kSetAddress = 2,
  kSetInlined = 0x90,  // NVIDIA's: the row that calls, and the name of what is inlined there
  // NVIDIA's, in the Mercury view: whether rows from there on are where the function begins,
  // whatever its first instruction (by comparison with machine code's rows, docs/mercury.md).
  kFunctionRow = 0x92,
};

}  // namespace devlink::format::dwarf
