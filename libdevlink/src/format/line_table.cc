// SPDX-License-Identifier: Apache-2.0
#include "format/line_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/leb128.h"
#include "format/dwarf_lines.h"

namespace devlink::format {

namespace {

// A sequence that stays.
struct RankedSequence {
  std::uint32_t rank = 0;
  LineSequence sequence;
};

std::optional<std::uint32_t> RankOfSequence(const LineTable& table, const LineSequence& sequence,
                                            RankAt rank_at) {
  for (const std::uint64_t address : table.AddressesOf(sequence)) {
    if (const auto rank = rank_at(address)) return rank;
  }
  return std::nullopt;
}

}  // namespace

// From front to back; every step fails where the bytes end.
class LineTableReader {
 public:
  explicit LineTableReader(base::Bytes bytes) : bytes_(bytes), reader_(bytes) {}

  std::optional<LineTable> Run() {
    while (at_ < bytes_.size()) {
      if (!Unit()) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  bool Unit() {
    std::uint32_t length = 0;
    std::uint32_t header = 0;
    const std::uint64_t begin = at_;
    if (!reader_.Read(begin, length) || !reader_.Slice(begin + sizeof(length), length) ||
        !reader_.Read(begin + dwarf::kHeaderLengthAt, header) ||
        !reader_.Read(begin + dwarf::kOpcodeBaseAt, opcode_base_)) {
      return false;
    }
    const std::uint64_t end = begin + sizeof(length) + length;
    const std::uint64_t program = begin + dwarf::kHeaderAt + header;
    if (program > end || begin + dwarf::kOperandCountsAt > program || opcode_base_ == 0)
      return false;
    operand_counts_ = begin + dwarf::kOperandCountsAt;
    if (operand_counts_ + opcode_base_ - 1 > program) return false;
    const auto first = static_cast<std::uint32_t>(out_.sequences_.size());
    for (at_ = program; at_ < end;) {
      if (!Sequence(end)) return false;
    }
    const auto count = static_cast<std::uint32_t>(out_.sequences_.size() - first);
    out_.units_.push_back({begin, program, first, count});
    return true;
  }

  bool Sequence(std::uint64_t end) {
    LineSequence sequence{.begin = at_,
                          .first_address = static_cast<std::uint32_t>(out_.addresses_.size())};
    bool ends = false;
    while (at_ < end && !ends) {
      std::uint8_t opcode = 0;
      if (!reader_.Read(at_++, opcode)) return false;
      if (opcode == dwarf::kExtended) {
        if (!Extended(ends)) return false;
      } else if (opcode == dwarf::kFixedAdvance) {
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
    sequence.end = at_;
    sequence.address_count =
        static_cast<std::uint32_t>(out_.addresses_.size()) - sequence.first_address;
    if (!ends || sequence.address_count != 1) out_.is_plain_ = false;
    out_.sequences_.push_back(sequence);
    return true;
  }

  bool Extended(bool& ends) {
    std::uint64_t length = 0;
    std::uint8_t kind = 0;
    if (!Number(length) || length == 0 || !reader_.Slice(at_, length) || !reader_.Read(at_, kind)) {
      return false;
    }
    if (kind == dwarf::kSetAddress) out_.addresses_.push_back(at_ + 1);
    ends = kind == dwarf::kEndSequence;
    const bool is_odd = (kind == dwarf::kSetAddress && length != 1 + sizeof(std::uint64_t)) ||
                        (kind == dwarf::kEndSequence && length != 1);
    if (is_odd) out_.is_plain_ = false;
    at_ += length;
    return true;
  }

  // Of signed numbers only the length is wanted.
  bool Number(std::uint64_t& out) { return base::ReadLeb128(reader_, at_, out); }

  const base::Bytes bytes_;
  const base::BoundedReader reader_;
  std::uint64_t at_ = 0;
  std::uint8_t opcode_base_ = 0;
  std::uint64_t operand_counts_ = 0;
  LineTable out_;
};

std::optional<LineTable> LineTable::Read(base::Bytes bytes) { return LineTableReader(bytes).Run(); }

const LineUnit* LineTable::HeadAt(std::uint64_t offset) const {
  const auto behind = std::ranges::upper_bound(units_, offset, {}, &LineUnit::begin);
  if (behind == units_.begin() || offset >= std::prev(behind)->program) return nullptr;
  return &*std::prev(behind);
}

std::optional<KeptLines> KeepLines(base::Bytes bytes, RankAt rank_at,
                                   const RemadeSequences& remade) {
  const auto table = LineTable::Read(bytes);
  if (!table) return std::nullopt;
  KeptLines out;
  const auto keep = [&](std::uint64_t begin, std::uint64_t end) {
    out.Keep(bytes, begin, end - begin);
  };
  std::vector<RankedSequence> sequences;  // of one unit
  for (const LineUnit& unit : table->units()) {
    const std::uint64_t to = out.bytes.size();
    keep(unit.begin, unit.program);
    out.headers.push_back(out.runs.back());
    sequences.clear();
    for (const LineSequence& sequence : table->SequencesOf(unit)) {
      if (const auto rank = RankOfSequence(*table, sequence, rank_at)) {
        sequences.push_back({*rank, sequence});
      }
    }
    std::ranges::stable_sort(sequences, {}, &RankedSequence::rank);
    for (const RankedSequence& kept : sequences) {
      const auto other = remade.find(kept.sequence.begin);
      if (other == remade.end()) {
        keep(kept.sequence.begin, kept.sequence.end);
        continue;
      }
      keep(kept.sequence.begin, kept.sequence.begin + kSetAddressSize);
      out.bytes.insert(out.bytes.end(), other->second.begin() + kSetAddressSize,
                       other->second.end());
    }
    SetUnitSize(std::span(out.bytes).subspan(to));
  }
  std::ranges::sort(out.runs, {}, &KeptBytes::Run::from);
  return out;
}

void SetUnitSize(std::span<std::uint8_t> unit) {
  const auto size = static_cast<std::uint32_t>(unit.size() - sizeof(std::uint32_t));
  std::memcpy(unit.data(), &size, sizeof(size));
}

}  // namespace devlink::format
