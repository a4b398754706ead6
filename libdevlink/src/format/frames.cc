// SPDX-License-Identifier: Apache-2.0
#include "format/frames.h"

#include <utility>

#include "base/leb128.h"
#include "base/value_bytes.h"

namespace devlink::format {

namespace {

constexpr std::uint64_t kIsCie = ~std::uint64_t{0};

// What stands behind the first byte of an instruction. DWARF 3, 7.23.
struct Operands {
  std::uint8_t opcode = 0;
  std::uint8_t numbers = 0;  // LEB128
  bool block = false;        // a length, and so many bytes
};
constexpr Operands kOperands[] = {
    {0x05, 2, false}, {0x06, 1, false}, {0x07, 1, false}, {0x08, 1, false}, {0x09, 2, false},
    {0x0a, 0, false}, {0x0b, 0, false}, {0x0c, 2, false}, {0x0d, 1, false}, {0x0e, 1, false},
    {0x0f, 0, true},  {0x10, 1, true},  {0x11, 2, false}, {0x12, 2, false}, {0x13, 1, false},
    {0x14, 2, false}, {0x15, 2, false}, {0x16, 1, true},
};
constexpr std::uint8_t kNothing = 0;
// Advances by a byte, a half word and a word.
constexpr std::uint8_t kAdvance1 = 2;
constexpr std::uint8_t kAdvance2 = 3;
constexpr std::uint8_t kAdvance4 = 4;
// In the upper two bits; the lower six are an operand.
constexpr std::uint8_t kUpperBits = 0xc0;
constexpr std::uint8_t kAdvance = 0x40;
constexpr std::uint8_t kOffset = 0x80;

class InstructionReader {
 public:
  explicit InstructionReader(base::Bytes entry) : entry_(entry), reader_(entry) {}

  std::optional<FrameProgram> Run() {
    while (at_ < entry_.size()) {
      const std::uint64_t begin = at_;
      std::uint8_t opcode = 0;
      if (!reader_.Read(at_++, opcode)) return std::nullopt;
      if (opcode == kNothing) continue;
      bool is_advance = false;
      if (!Advance(opcode, is_advance)) return std::nullopt;
      if (!is_advance) {
        if (!Skip(opcode)) return std::nullopt;
        out_.instructions.push_back({place_, begin, at_});
      }
      out_.end = at_;
    }
    return std::move(out_);
  }

 private:
  bool Advance(std::uint8_t opcode, bool& is_one) {
    is_one = true;
    if ((opcode & kUpperBits) == kAdvance) {
      place_ += opcode & ~kUpperBits;
      return true;
    }
    switch (opcode) {
      case kAdvance1:
        return AdvanceBy<std::uint8_t>();
      case kAdvance2:
        return AdvanceBy<std::uint16_t>();
      case kAdvance4:
        return AdvanceBy<std::uint32_t>();
      default:
        is_one = false;
        return true;
    }
  }
  template <typename T>
  bool AdvanceBy() {
    T by = 0;
    if (!reader_.Read(at_, by)) return false;
    at_ += sizeof(by);
    place_ += by;
    return true;
  }
  bool Skip(std::uint8_t opcode) {
    std::uint64_t number = 0;
    if ((opcode & kUpperBits) == kOffset) return Number(number);
    if ((opcode & kUpperBits) != 0) return true;
    for (const Operands& operands : kOperands) {
      if (operands.opcode != opcode) continue;
      for (int i = 0; i < operands.numbers; ++i) {
        if (!Number(number)) return false;
      }
      if (!operands.block) return true;
      if (!Number(number) || !reader_.Slice(at_, number)) return false;
      at_ += number;
      return true;
    }
    return false;
  }
  bool Number(std::uint64_t& out) { return base::ReadLeb128(reader_, at_, out); }

  const base::Bytes entry_;
  const base::BoundedReader reader_;
  std::uint64_t at_ = kFrameInstructions;
  std::uint64_t place_ = 0;
  FrameProgram out_{.instructions = {}, .end = kFrameInstructions};
};

}  // namespace

std::optional<FrameProgram> ReadFrameProgram(base::Bytes entry) {
  return InstructionReader(entry).Run();
}

std::optional<std::vector<Frame>> SplitFrames(base::Bytes bytes) {
  const base::BoundedReader reader(bytes);
  std::vector<Frame> out;
  FrameEntry cie;
  for (std::uint64_t at = 0; at < bytes.size();) {
    std::uint32_t escape = 0;
    std::uint64_t length = 0;
    std::uint64_t of = 0;
    if (!reader.Read(at, escape) || escape != kFrameEscape || !reader.Read(at + 4, length) ||
        !reader.Read(at + kFrameCieField, of) || length < sizeof(of) ||
        !reader.Slice(at + kFrameHead, length)) {
      return std::nullopt;
    }
    const FrameEntry entry{at, kFrameHead + length};
    if (of == kIsCie) {
      cie = entry;
    } else {
      if (entry.size < kFrameRangeField + sizeof(std::uint64_t)) return std::nullopt;
      out.push_back({cie, entry});
    }
    at += entry.size;
  }
  return out;
}

std::optional<KeptBytes> KeepFrames(base::Bytes bytes,
                                    absl::FunctionRef<bool(std::uint64_t)> stays) {
  const auto frames = SplitFrames(bytes);
  if (!frames) return std::nullopt;
  KeptBytes out;
  const auto keep = [&](const FrameEntry& entry) { out.Keep(bytes, entry.begin, entry.size); };
  std::optional<std::uint64_t> known;  // the CIE of the last entry
  for (const Frame& frame : *frames) {
    if (!stays(frame.code.begin + kFrameAddressField)) continue;
    if (frame.cie.size == 0) return std::nullopt;
    if (known != frame.cie.begin) keep(frame.cie);
    known = frame.cie.begin;
    keep(frame.code);
    // Inputs have a relocation there as a rule, and 0.
    const std::uint64_t field = out.runs.back().to + kFrameCieField;
    const auto cie = base::BoundedReader(out.bytes).ReadOrZero<std::uint64_t>(field);
    if (cie != 0) {
      const auto place = out.PlaceOf(cie);
      if (!place) return std::nullopt;
      base::PutValue(out.bytes, field, *place);
    }
  }
  return out;
}

}  // namespace devlink::format
