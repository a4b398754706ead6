// SPDX-License-Identifier: Apache-2.0
#include "image/lines.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "base/bounded_reader.h"
#include "image/section_bytes.h"

namespace devlink::internal {

namespace {

// DWARF 2, in its 32-bit form.
constexpr std::uint64_t kHeaderLengthAt = 6;
constexpr std::uint64_t kHeaderAt = 10;  // what the header's length counts from
constexpr std::uint64_t kOpcodeBaseAt = 14;
constexpr std::uint64_t kOperandCountsAt = 15;
constexpr std::uint8_t kExtended = 0;
constexpr std::uint8_t kFixedAdvance = 9;  // its operand is a half word
constexpr std::uint8_t kEndSequence = 1;
constexpr std::uint8_t kSetAddress = 2;

// Reads one table from front to back; every step fails where the bytes end.
class LineReader {
 public:
  LineReader(base::Bytes bytes, const SymbolAt& symbol_at)
      : bytes_(bytes), reader_(bytes), symbol_at_(symbol_at) {}

  std::optional<Lines> Run() {
    while (at_ < bytes_.size()) {
      if (!Unit()) return std::nullopt;
    }
    std::sort(out_.runs.begin(), out_.runs.end(),
              [](const Lines::Run& a, const Lines::Run& b) { return a.from < b.from; });
    return std::move(out_);
  }

 private:
  // A sequence that stays.
  struct Kept {
    std::uint32_t symbol = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  bool Unit() {
    std::uint32_t length = 0;
    std::uint32_t header = 0;
    const std::uint64_t begin = at_;
    if (!reader_.Read(begin, length) || !reader_.Slice(begin + sizeof(length), length) ||
        !reader_.Read(begin + kHeaderLengthAt, header) ||
        !reader_.Read(begin + kOpcodeBaseAt, opcode_base_)) {
      return false;
    }
    const std::uint64_t end = begin + sizeof(length) + length;
    const std::uint64_t program = begin + kHeaderAt + header;
    if (program > end || begin + kOperandCountsAt > program || opcode_base_ == 0) return false;
    operand_counts_ = begin + kOperandCountsAt;
    if (operand_counts_ + opcode_base_ - 1 > program) return false;
    const std::uint64_t to = out_.bytes.size();
    Keep(begin, program);
    out_.headers.push_back(out_.runs.back());
    sequences_.clear();
    for (at_ = program; at_ < end;) {
      if (!Sequence(end)) return false;
    }
    std::stable_sort(sequences_.begin(), sequences_.end(),
                     [](const Kept& a, const Kept& b) { return a.symbol < b.symbol; });
    for (const Kept& kept : sequences_) Keep(kept.begin, kept.end);
    const auto size = static_cast<std::uint32_t>(out_.bytes.size() - to - sizeof(length));
    std::memcpy(out_.bytes.data() + to, &size, sizeof(size));
    return true;
  }

  // From here to the end of the sequence, which is kept or not.
  bool Sequence(std::uint64_t end) {
    const std::uint64_t begin = at_;
    std::optional<std::uint32_t> symbol;
    bool ends = false;
    while (at_ < end && !ends) {
      std::uint8_t opcode = 0;
      if (!reader_.Read(at_++, opcode)) return false;
      if (opcode == kExtended) {
        if (!Extended(symbol, ends)) return false;
      } else if (opcode == kFixedAdvance) {
        at_ += sizeof(std::uint16_t);
      } else if (opcode < opcode_base_) {
        const auto count = reader_.ReadOrZero<std::uint8_t>(operand_counts_ + opcode - 1U);
        for (unsigned i = 0; i < count; ++i) {
          std::uint64_t ignored = 0;
          if (!Number(ignored)) return false;
        }
      }
    }
    if (at_ > end) return false;
    if (symbol) sequences_.push_back({*symbol, begin, at_});
    return true;
  }

  bool Extended(std::optional<std::uint32_t>& symbol, bool& ends) {
    std::uint64_t length = 0;
    std::uint8_t kind = 0;
    if (!Number(length) || length == 0 || !reader_.Slice(at_, length) || !reader_.Read(at_, kind)) {
      return false;
    }
    if (!symbol && kind == kSetAddress) symbol = symbol_at_(at_ + 1);
    ends = kind == kEndSequence;
    at_ += length;
    return true;
  }

  // LEB128; of signed numbers only the length is wanted.
  bool Number(std::uint64_t& out) {
    out = 0;
    std::uint8_t byte = 0x80;
    for (unsigned shift = 0; (byte & 0x80) != 0; shift += 7) {
      if (shift > 63 || !reader_.Read(at_++, byte)) return false;
      out |= std::uint64_t{byte & 0x7fU} << shift;
    }
    return true;
  }

  void Keep(std::uint64_t begin, std::uint64_t end) {
    out_.runs.push_back({begin, end - begin, out_.bytes.size()});
    const base::Bytes kept = bytes_.subspan(begin, end - begin);
    out_.bytes.insert(out_.bytes.end(), kept.begin(), kept.end());
  }

  const base::Bytes bytes_;
  const base::BoundedReader reader_;
  const SymbolAt& symbol_at_;
  std::uint64_t at_ = 0;
  std::uint8_t opcode_base_ = 0;
  std::uint64_t operand_counts_ = 0;
  std::vector<Kept> sequences_;
  Lines out_;
};

}  // namespace

std::optional<std::uint64_t> Lines::PlaceOf(std::uint64_t offset) const {
  const auto behind =
      std::upper_bound(runs.begin(), runs.end(), offset,
                       [](std::uint64_t at, const Run& run) { return at < run.from; });
  if (behind == runs.begin()) return std::nullopt;
  const Run& run = *std::prev(behind);
  if (offset - run.from >= run.size) return std::nullopt;
  return offset - run.from + run.to;
}

std::optional<Lines> KeepLines(const Section& section, const SymbolAt& symbol_at) {
  const std::vector<std::uint8_t> bytes = BytesOf(section);
  return LineReader(bytes, symbol_at).Run();
}

}  // namespace devlink::internal
