// SPDX-License-Identifier: Apache-2.0
//
// The rows of one sequence of a line table, to be changed and written again. What the assembler and
// nvlink's finalizer write comes back byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bounded_reader.h"

namespace devlink::format {

// How the instructions of a unit count, by its head. DWARF 2, 6.2.4.
struct LineScale {
  std::uint8_t unit = 1;  // bytes of code that an advance of 1 is
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
};

// One instruction.
using LineInstruction = std::vector<std::uint8_t>;

struct LineRow {
  // Those in front of it that change neither place nor line.
  std::vector<LineInstruction> before;
  std::uint64_t place = 0;  // in the function's code
  std::int64_t line = 0;
  // Of the Mercury view only: the row is where the function begins, whatever its first instruction
  // (extended instruction 0x92; by comparison with machine code's rows, docs/mercury.md "Lines").
  bool begins_function = false;
};

struct LineProgram {
  std::vector<LineRow> rows;
  std::vector<LineInstruction> before_end;
  std::uint64_t end = 0;  // where the code ends
};

// What an instruction sets for all rows behind it, until another one sets it anew.
enum class LineState : std::uint8_t { kFile, kColumn, kInlined };
inline constexpr std::size_t kLineStates = 3;
// Nothing where it sets something else.
std::optional<LineState> StateSetBy(const LineInstruction& instruction);

// The number, from 1 on, of the row that calls what is inlined behind such an instruction; 0:
// nothing is inlined there. Nothing where it is another instruction.
std::optional<std::uint64_t> CallingRow(const LineInstruction& instruction);
// The same of another row.
LineInstruction WithCallingRow(const LineInstruction& instruction, std::uint64_t row);

// `head`: of the unit, as long as LineTable has it.
std::optional<LineScale> ReadLineScale(base::Bytes head);

// Nothing where the bytes are not one whole sequence of known instructions, or are more rows.
std::optional<LineProgram> ReadLineProgram(base::Bytes sequence, const LineScale& scale,
                                           std::uint64_t most_rows);

std::vector<std::uint8_t> WriteLineProgram(const LineProgram& program, const LineScale& scale);

}  // namespace devlink::format
