// SPDX-License-Identifier: Apache-2.0
#include "format/line_program.h"

#include <cstddef>
#include <utility>

#include "base/leb128.h"
#include "format/dwarf_lines.h"

namespace devlink::format {

namespace {

class ProgramReader {
 public:
  ProgramReader(base::Bytes bytes, const LineScale& scale, std::uint64_t most_rows)
      : bytes_(bytes), reader_(bytes), scale_(scale), most_rows_(most_rows) {}

  std::optional<LineProgram> Run() {
    while (at_ < bytes_.size() && !ended_) {
      if (!Step()) return std::nullopt;
    }
    if (!ended_ || at_ != bytes_.size()) return std::nullopt;
    out_.before_end = std::move(before_);
    out_.end = place_;
    return std::move(out_);
  }

 private:
  bool Step() {
    begin_ = at_;
    std::uint8_t opcode = 0;
    if (!reader_.Read(at_++, opcode)) return false;
    if (opcode >= scale_.opcode_base) {
      const unsigned steps = opcode - scale_.opcode_base;
      Advance(steps / scale_.line_range);
      MoveLine(scale_.line_base + static_cast<int>(steps % scale_.line_range));
      return AddRow();
    }
    std::uint64_t number = 0;
    switch (opcode) {
      case dwarf::kExtended:
        return Extended();
      case dwarf::kCopy:
        return AddRow();
      case dwarf::kAdvancePlace:
        if (!Number(number)) return false;
        Advance(number);
        return true;
      case dwarf::kAdvanceLine:
        return AdvanceLine();
      case dwarf::kSetFile:
      case dwarf::kSetColumn:
        return Number(number) && Keep();
      case dwarf::kNegateStatement:
      case dwarf::kSetBlock:
        return Keep();
      case dwarf::kAdvanceByConstant:
        Advance((dwarf::kLargestOpcode - scale_.opcode_base) / scale_.line_range);
        return true;
      case dwarf::kFixedAdvance: {
        std::uint16_t bytes = 0;
        if (!reader_.Read(at_, bytes)) return false;
        at_ += sizeof(bytes);
        place_ += bytes;
        return true;
      }
      default:
        return false;
    }
  }

  bool Extended() {
    std::uint64_t length = 0;
    if (!Number(length) || length == 0) return false;
    const auto body = reader_.Slice(at_, length);
    if (!body) return false;
    at_ += length;
    if (body->front() == dwarf::kEndSequence) {
      ended_ = true;
      return true;
    }
    if (body->front() != dwarf::kFunctionRow) return Keep();
    if (length != 2) return false;
    begins_function_ = body->back() != 0;
    return true;
  }

  void Advance(std::uint64_t steps) { place_ += steps * scale_.unit; }
  bool Keep() {
    before_.emplace_back(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
                         bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
    return true;
  }
  bool AddRow() {
    if (out_.rows.size() == most_rows_) return false;
    out_.rows.push_back(
        {std::exchange(before_, {}), place_, static_cast<std::int64_t>(line_), begins_function_});
    return true;
  }

  bool Number(std::uint64_t& out) { return base::ReadLeb128(reader_, at_, out); }
  bool AdvanceLine() {
    std::int64_t by = 0;
    if (!base::ReadSignedLeb128(reader_, at_, by)) return false;
    MoveLine(by);
    return true;
  }
  // Any bytes may come: numbers wrap.
  void MoveLine(std::int64_t by) { line_ += static_cast<std::uint64_t>(by); }

  const base::Bytes bytes_;
  const base::BoundedReader reader_;
  const LineScale scale_;
  const std::uint64_t most_rows_;
  std::uint64_t begin_ = 0;  // of the instruction
  std::uint64_t at_ = 0;
  std::uint64_t place_ = 0;
  std::uint64_t line_ = 1;
  bool begins_function_ = false;
  bool ended_ = false;
  std::vector<LineInstruction> before_;
  LineProgram out_;
};

// Where the operands of an instruction for inlined code begin: behind a length of one byte.
constexpr std::uint64_t kInlinedOperands = 3;

bool SetsInlined(const LineInstruction& instruction) {
  return instruction.size() > kInlinedOperands && instruction[0] == dwarf::kExtended &&
         instruction[2] == dwarf::kSetInlined;
}

}  // namespace

std::optional<LineState> StateSetBy(const LineInstruction& instruction) {
  if (instruction.empty()) return std::nullopt;
  if (instruction.front() == dwarf::kSetFile) return LineState::kFile;
  if (instruction.front() == dwarf::kSetColumn) return LineState::kColumn;
  if (SetsInlined(instruction)) return LineState::kInlined;
  return std::nullopt;
}

std::optional<std::uint64_t> CallingRow(const LineInstruction& instruction) {
  std::uint64_t at = kInlinedOperands;
  std::uint64_t row = 0;
  const bool has_one =
      SetsInlined(instruction) && base::ReadLeb128(base::BoundedReader(instruction), at, row);
  if (!has_one) return std::nullopt;
  return row;
}

LineInstruction WithCallingRow(const LineInstruction& instruction, std::uint64_t row) {
  std::uint64_t behind = kInlinedOperands;
  std::uint64_t ignored = 0;
  if (!base::ReadLeb128(base::BoundedReader(instruction), behind, ignored)) return instruction;
  LineInstruction out = {dwarf::kExtended, 0, dwarf::kSetInlined};
  base::AppendLeb128(out, row);
  out.insert(out.end(), instruction.begin() + static_cast<std::ptrdiff_t>(behind),
             instruction.end());
  out[1] = static_cast<std::uint8_t>(out.size() - 2);
  return out;
}

std::optional<LineScale> ReadLineScale(base::Bytes head) {
  const base::BoundedReader reader(head);
  LineScale out;
  std::uint16_t version = 0;
  std::uint8_t line_base = 0;
  if (!reader.Read(dwarf::kVersionAt, version) || version > dwarf::kLastVersion ||
      !reader.Read(dwarf::kUnitAt, out.unit) || !reader.Read(dwarf::kLineBaseAt, line_base) ||
      !reader.Read(dwarf::kLineRangeAt, out.line_range) ||
      !reader.Read(dwarf::kOpcodeBaseAt, out.opcode_base) || out.unit == 0 || out.line_range == 0 ||
      out.opcode_base <= dwarf::kFixedAdvance) {
    return std::nullopt;
  }
  out.line_base = static_cast<std::int8_t>(line_base);
  return out;
}

std::optional<LineProgram> ReadLineProgram(base::Bytes sequence, const LineScale& scale,
                                           std::uint64_t most_rows) {
  return ProgramReader(sequence, scale, most_rows).Run();
}

namespace {

class ProgramWriter {
 public:
  explicit ProgramWriter(const LineScale& scale) : scale_(scale) {}

  std::vector<std::uint8_t> Run(const LineProgram& program) {
    for (const LineRow& row : program.rows) {
      Append(row.before);
      AddRow(row);
    }
    Append(program.before_end);
    Advance(StepsTo(program.end));
    out_.insert(out_.end(), {dwarf::kExtended, 1, dwarf::kEndSequence});
    return std::move(out_);
  }

 private:
  void AddRow(const LineRow& row) {
    const std::int64_t steps = StepsTo(row.place);
    const auto lines = static_cast<std::int64_t>(static_cast<std::uint64_t>(row.line) - line_);
    place_ = row.place;
    line_ = static_cast<std::uint64_t>(row.line);
    if (const auto opcode = SpecialFor(steps, lines)) return out_.push_back(*opcode);
    if (lines != 0 || steps == 0) {
      out_.push_back(dwarf::kAdvanceLine);
      base::AppendSignedLeb128(out_, lines);
    }
    Advance(steps);
    out_.push_back(dwarf::kCopy);
  }
  // The one instruction for both, which is used where both change.
  [[nodiscard]] std::optional<std::uint8_t> SpecialFor(std::int64_t steps,
                                                       std::int64_t lines) const {
    const bool is_near = steps > 0 && steps <= dwarf::kLargestOpcode && lines != 0 &&
                         lines >= scale_.line_base &&
                         lines < scale_.line_base + int{scale_.line_range};
    if (!is_near) return std::nullopt;
    const std::int64_t opcode =
        lines - scale_.line_base + steps * scale_.line_range + scale_.opcode_base;
    if (opcode > dwarf::kLargestOpcode) return std::nullopt;
    return static_cast<std::uint8_t>(opcode);
  }
  // Advances, too, are written as if they had a sign.
  void Advance(std::int64_t steps) {
    if (steps == 0) return;
    out_.push_back(dwarf::kAdvancePlace);
    base::AppendSignedLeb128(out_, steps);
  }
  [[nodiscard]] std::int64_t StepsTo(std::uint64_t next) const {
    return static_cast<std::int64_t>(next - place_) / scale_.unit;
  }
  void Append(const std::vector<LineInstruction>& instructions) {
    for (const LineInstruction& instruction : instructions) {
      out_.insert(out_.end(), instruction.begin(), instruction.end());
    }
  }

  const LineScale scale_;
  std::uint64_t place_ = 0;
  std::uint64_t line_ = 1;
  std::vector<std::uint8_t> out_;
};

}  // namespace

std::vector<std::uint8_t> WriteLineProgram(const LineProgram& program, const LineScale& scale) {
  return ProgramWriter(scale).Run(program);
}

}  // namespace devlink::format
