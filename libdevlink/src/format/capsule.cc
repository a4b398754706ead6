// SPDX-License-Identifier: Apache-2.0
#include "format/capsule.h"

#include <cstddef>

namespace devlink::format {

namespace {

constexpr std::uint32_t kCountAt = 8;
constexpr std::uint32_t kBitmapAt = 12;
constexpr std::uint32_t kLongRecord = 32;
constexpr std::uint32_t kConstantAt = 28;  // in a long record
constexpr std::uint8_t kOfNone = 0x31;     // first byte of a record that stands for nothing in
                                           // machine code: CUTLASS's kernels have thousands

// Whether a record begins with a count of instructions of machine code. The lowest bit says whether
// there is anything besides.
constexpr bool IsCounted(std::uint8_t first) { return (first & 0x7e) == 0x50; }

// The bytes of a record, by its first one; 0 for what is not known.
std::uint32_t RecordSize(std::uint8_t first) {
  switch (first) {
    case 0x01:
    case kOfNone:
      return 16;
    case 0x02:
      return kLongRecord;
    case 0x41:
    case 0x42:
      return 4;
    default:
      return 0;
  }
}

// What one record of the stream stands for.
struct Record {
  std::uint32_t at = 0;            // of the Mercury instruction
  std::uint32_t size = 0;          // 0: there is none
  std::uint32_t instructions = 1;  // of machine code
};

absl::Status DamagedCapsule(const char* what) { return absl::InvalidArgumentError(what); }

// The record at `at`, which moves behind it.
absl::Status ReadRecord(const base::BoundedReader& reader, std::uint64_t& at, Record& out) {
  std::uint8_t first = 0;
  if (!reader.Read(at, first)) return DamagedCapsule("its records end before its instructions do");
  out = Record();
  bool has_record = true;
  const bool is_plain = !IsCounted(first);
  if (!is_plain) {
    std::uint16_t head = 0;
    if (!reader.Read(at, head)) return DamagedCapsule("a record is cut off");
    out.instructions = head >> 7;
    has_record = (head & 1) != 0;
    at += sizeof(head);
    if (has_record && !reader.Read(at, first)) return DamagedCapsule("a record is cut off");
  }
  if (!has_record) return absl::OkStatus();
  out.at = static_cast<std::uint32_t>(at);
  out.size = RecordSize(first);
  if (is_plain && first == kOfNone) out.instructions = 0;
  if (out.size == 0) return DamagedCapsule("a record of a form that is not known");
  if (!reader.Slice(at, out.size)) return DamagedCapsule("a record is cut off");
  at += out.size;
  return absl::OkStatus();
}

// Of a record that is there.
bool IsUnknownForm(const base::BoundedReader& reader, std::uint64_t at) {
  std::uint8_t first = 0;
  if (!reader.Read(at, first)) return false;
  if (IsCounted(first)) {
    if ((first & 1) == 0 || !reader.Read(at + sizeof(std::uint16_t), first)) return false;
  }
  return RecordSize(first) == 0;
}

// How many Mercury instructions a capsule has, and where its records begin.
struct Head {
  std::uint32_t count = 0;
  std::uint64_t records = 0;
};

absl::Status ReadHead(const base::BoundedReader& reader, Head& out) {
  if (!reader.Read(kCountAt, out.count)) return DamagedCapsule("its head is cut off");
  const std::uint64_t bitmap = (std::uint64_t{out.count} + 31) / 32 * 4;
  if (!reader.Slice(kBitmapAt, bitmap)) return DamagedCapsule("its bitmap is cut off");
  out.records = kBitmapAt + bitmap;
  return absl::OkStatus();
}

// Whether a Mercury instruction has no record, as it follows from one of machine code.
bool IsElided(const base::BoundedReader& reader, std::uint32_t instruction) {
  const auto bits = reader.ReadOrZero<std::uint8_t>(kBitmapAt + instruction / 8);
  return (bits >> (instruction % 8) & 1) != 0;
}

}  // namespace

bool IsCapsuleOfFirstForm(base::Bytes capsule) {
  constexpr unsigned kFormAt = 30;  // two bits of the second word
  return base::BoundedReader(capsule).ReadOrZero<std::uint32_t>(4) >> kFormAt == 1;
}

absl::Status CheckCapsule(base::Bytes capsule, std::uint64_t instructions, bool later) {
  const base::BoundedReader reader(capsule);
  Head head;
  if (absl::Status read = ReadHead(reader, head); !read.ok()) return read;
  std::uint64_t at = head.records;
  std::uint64_t next = 0;  // instruction of machine code
  for (std::uint32_t i = 0; i < head.count; ++i) {
    Record record;
    if (!IsElided(reader, i)) {
      if (later && IsUnknownForm(reader, at)) return absl::OkStatus();
      if (absl::Status read = ReadRecord(reader, at, record); !read.ok()) return read;
    }
    next += record.instructions;
  }
  if (at != capsule.size()) return DamagedCapsule("its records do not end where it does");
  if (next != instructions) return DamagedCapsule("it stands for another number of instructions");
  return absl::OkStatus();
}

absl::Status FindCapsuleConstants(base::Bytes capsule, std::span<const std::uint32_t> instructions,
                                  std::vector<std::uint32_t>& offsets) {
  const base::BoundedReader reader(capsule);
  offsets.assign(instructions.size(), 0);
  Head head;
  if (absl::Status read = ReadHead(reader, head); !read.ok()) return read;
  std::uint64_t at = head.records;
  std::uint64_t next = 0;  // instruction of machine code
  std::size_t wanted = 0;
  for (std::uint32_t i = 0; i < head.count && wanted < instructions.size(); ++i) {
    Record record;
    if (!IsElided(reader, i)) {
      if (absl::Status read = ReadRecord(reader, at, record); !read.ok()) return read;
    }
    const std::uint64_t end = next + record.instructions;
    for (; wanted < instructions.size() && instructions[wanted] < end; ++wanted) {
      if (record.size == kLongRecord && instructions[wanted] == next) {
        offsets[wanted] = record.at + kConstantAt;
      }
    }
    next = end;
  }
  return absl::OkStatus();
}

}  // namespace devlink::format
