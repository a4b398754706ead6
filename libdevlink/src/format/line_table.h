// SPDX-License-Identifier: Apache-2.0
//
// Line tables (`.debug_line`, `.nv_debug_line_sass`): units, each a head and sequences of rows, one
// for each function that the unit has lines of. DWARF 2 in its 32-bit form, section 6.2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/bounded_reader.h"
#include "base/hash_table.h"
#include "format/kept_bytes.h"

namespace devlink::format {

// Offsets in the section.
struct LineSequence {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t first_address = 0;  // of LineTable::addresses
  std::uint32_t address_count = 0;
};

struct LineUnit {
  std::uint64_t begin = 0;
  std::uint64_t program = 0;  // where the head ends
  std::uint32_t first_sequence = 0;
  std::uint32_t sequence_count = 0;
};

class LineTable {
 public:
  // Nothing where the bytes are not such a table.
  static std::optional<LineTable> Read(base::Bytes bytes);

  [[nodiscard]] const std::vector<LineUnit>& units() const { return units_; }
  // The unit in whose head the byte lies; null where it lies in none.
  [[nodiscard]] const LineUnit* HeadAt(std::uint64_t offset) const;
  [[nodiscard]] std::span<const LineSequence> SequencesOf(const LineUnit& unit) const {
    return std::span(sequences_).subspan(unit.first_sequence, unit.sequence_count);
  }
  // Whether every sequence has one address, of 8 bytes, and an end.
  [[nodiscard]] bool is_plain() const { return is_plain_; }
  // The fields in which the sequence's address stands, relocated.
  [[nodiscard]] std::span<const std::uint64_t> AddressesOf(const LineSequence& sequence) const {
    return std::span(addresses_).subspan(sequence.first_address, sequence.address_count);
  }

 private:
  friend class LineTableReader;

  std::vector<LineUnit> units_;
  std::vector<LineSequence> sequences_;
  std::vector<std::uint64_t> addresses_;
  bool is_plain_ = true;
};

// A table, or what is left of it.
struct KeptLines : KeptBytes {
  std::vector<Run> headers;  // of the units, in their order; `runs` has them, too
};

// The rank of what a relocated field names, by its offset; nothing where no relocation of it stays.
using RankAt = absl::FunctionRef<std::optional<std::uint32_t>(std::uint64_t)>;

// What is to stand for sequences, by where they begin. Each begins as the one that it stands for
// does, with an instruction of kSetAddressSize bytes.
using RemadeSequences = base::HashMap<std::uint64_t, std::vector<std::uint8_t>>;
inline constexpr std::uint64_t kSetAddressHead = 3;  // then the address
inline constexpr std::uint64_t kSetAddressSize = kSetAddressHead + sizeof(std::uint64_t);

// The table without the sequences of which no field has a rank; those of a unit are sorted by it.
// Nothing where the bytes are not such a table.
std::optional<KeptLines> KeepLines(base::Bytes bytes, RankAt rank_at,
                                   const RemadeSequences& remade = {});

// Says in the head of a unit how large it is. `unit` is all of it.
void SetUnitSize(std::span<std::uint8_t> unit);

}  // namespace devlink::format
