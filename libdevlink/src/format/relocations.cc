// SPDX-License-Identifier: Apache-2.0
#include "format/relocations.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <tuple>

namespace devlink::format {

namespace {

using Action = RelocationAction;
using Row = RelocationInfo;

// With RelocationInfo::bytes as the parts say.
template <std::size_t kCount>
constexpr std::array<Row, kCount> Measured(std::array<Row, kCount> rows) {
  for (Row& row : rows) {
    unsigned bits = 0;
    for (const FieldPart& part : row.parts) {
      const unsigned end = unsigned{part.position} + part.width;
      bits = end > bits ? end : bits;
    }
    row.bytes = static_cast<std::uint8_t>((bits + 7) / 8);
  }
  return rows;
}

// By type. Found by giving a relocation of a real cubin each type in turn and linking it against
// every class of symbol (docs/cubin-format.md, "Relocations"); parts are {bit, width, low value
// bit, bank}.
// clang-format off
constexpr std::array kRows = Measured(std::array{
    Row{0x00, "NONE", Action::kDrop, 0x00, {{}}},
    Row{0x01, "32", Action::kApply, 0x00, {{{0, 32, 0, false}}}},
    Row{0x02, "64", Action::kApply, 0x00, {{{0, 64, 0, false}}}},
    Row{0x03, "G32", Action::kKeep, 0x00, {{}}},
    Row{0x04, "G64", Action::kKeep, 0x00, {{}}},
    Row{0x05, "ABS32_26", Action::kApply, 0x00, {{{26, 32, 0, false}}}},
    Row{0x06, "TEX_HEADER_INDEX", Action::kKeep, 0x00, {{}}},
    Row{0x07, "SAMP_HEADER_INDEX", Action::kKeep, 0x00, {{}}},
    Row{0x08, "SURF_HW_DESC", Action::kKeep, 0x00, {{}}},
    Row{0x09, "SURF_HW_SW_DESC", Action::kKeep, 0x00, {{}}},
    Row{0x0a, "ABS32_LO_26", Action::kApply, 0x00, {{{26, 32, 0, false}}}},
    Row{0x0b, "ABS32_HI_26", Action::kApply, 0x00, {{{26, 32, 32, false}}}},
    Row{0x0c, "ABS32_23", Action::kApply, 0x00, {{{23, 32, 0, false}}}},
    Row{0x0d, "ABS32_LO_23", Action::kApply, 0x00, {{{23, 32, 0, false}}}},
    Row{0x0e, "ABS32_HI_23", Action::kApply, 0x00, {{{23, 32, 32, false}}}},
    Row{0x0f, "ABS24_26", Action::kApply, 0x00, {{{26, 24, 0, false}}}},
    Row{0x10, "ABS24_23", Action::kApply, 0x00, {{{23, 24, 0, false}}}},
    Row{0x11, "ABS16_26", Action::kApply, 0x00, {{{26, 16, 0, false}}}},
    Row{0x12, "ABS16_23", Action::kApply, 0x00, {{{23, 16, 0, false}}}},
    Row{0x13, "TEX_SLOT", Action::kRefuse, 0x00, {{}}},
    Row{0x14, "SAMP_SLOT", Action::kRefuse, 0x00, {{}}},
    Row{0x15, "SURF_SLOT", Action::kRefuse, 0x00, {{}}},
    Row{0x16, "TEX_BINDLESSOFF13_32", Action::kApply, 0x00, {{{32, 13, 2, false}}}},
    Row{0x17, "TEX_BINDLESSOFF13_47", Action::kApply, 0x00, {{{47, 13, 2, false}}}},
    Row{0x18, "CONST_FIELD19_28", Action::kApply, 0x00, {{{28, 14, 2, false}, {42, 4, 0, true}, {26, 1, 4, true}}}},
    Row{0x19, "CONST_FIELD19_23", Action::kApply, 0x00, {{{23, 14, 2, false}, {37, 5, 0, true}}}},
    Row{0x1a, "TEX_SLOT9_49", Action::kRefuse, 0x00, {{}}},
    Row{0x1b, "6_31", Action::kApply, 0x00, {{{31, 6, 0, false}}}},
    Row{0x1c, "2_47", Action::kApply, 0x00, {{{47, 2, 0, false}}}},
    Row{0x1d, "TEX_BINDLESSOFF13_41", Action::kApply, 0x00, {{{41, 13, 2, false}}}},
    Row{0x1e, "TEX_BINDLESSOFF13_45", Action::kApply, 0x00, {{{45, 13, 2, false}}}},
    Row{0x1f, "FUNC_DESC32_23", Action::kRefuse, 0x00, {{}}},
    Row{0x20, "FUNC_DESC32_LO_23", Action::kRefuse, 0x00, {{}}},
    Row{0x21, "FUNC_DESC32_HI_23", Action::kRefuse, 0x00, {{}}},
    Row{0x22, "FUNC_DESC_32", Action::kRefuse, 0x00, {{}}},
    Row{0x23, "FUNC_DESC_64", Action::kRefuse, 0x00, {{}}},
    Row{0x24, "CONST_FIELD21_26", Action::kApply, 0x00, {{{26, 16, 0, false}, {42, 5, 0, true}}}},
    Row{0x25, "QUERY_DESC21_37", Action::kApply, 0x00, {{{37, 16, 0, false}, {53, 5, 0, true}}}},
    Row{0x26, "CONST_FIELD19_26", Action::kApply, 0x00, {{{26, 14, 2, false}, {40, 5, 0, true}}}},
    Row{0x27, "CONST_FIELD21_23", Action::kApply, 0x00, {{{23, 16, 0, false}, {39, 5, 0, true}}}},
    Row{0x28, "PCREL_IMM24_26", Action::kRefuse, 0x00, {{}}},
    Row{0x29, "PCREL_IMM24_23", Action::kRefuse, 0x00, {{}}},
    Row{0x2a, "ABS32_20", Action::kApply, 0x00, {{{20, 32, 0, false}}}},
    Row{0x2b, "ABS32_LO_20", Action::kApply, 0x00, {{{20, 32, 0, false}}}},
    Row{0x2c, "ABS32_HI_20", Action::kApply, 0x00, {{{20, 32, 32, false}}}},
    Row{0x2d, "ABS24_20", Action::kApply, 0x00, {{{20, 24, 0, false}}}},
    Row{0x2e, "ABS16_20", Action::kApply, 0x00, {{{20, 16, 0, false}}}},
    Row{0x2f, "FUNC_DESC32_20", Action::kRefuse, 0x00, {{}}},
    Row{0x30, "FUNC_DESC32_LO_20", Action::kRefuse, 0x00, {{}}},
    Row{0x31, "FUNC_DESC32_HI_20", Action::kRefuse, 0x00, {{}}},
    Row{0x32, "CONST_FIELD19_20", Action::kApply, 0x00, {{{20, 14, 2, false}, {34, 5, 0, true}}}},
    Row{0x33, "BINDLESSOFF13_36", Action::kApply, 0x00, {{{36, 13, 2, false}}}},
    Row{0x34, "SURF_HEADER_INDEX", Action::kKeep, 0x00, {{}}},
    Row{0x35, "INSTRUCTION64", Action::kKeep, 0x00, {{}}},
    Row{0x36, "CONST_FIELD21_20", Action::kApply, 0x00, {{{20, 16, 0, false}, {36, 5, 0, true}}}},
    Row{0x37, "ABS32_32", Action::kApply, 0x00, {{{32, 32, 0, false}}}},
    Row{0x38, "ABS32_LO_32", Action::kApply, 0x00, {{{32, 32, 0, false}}}},
    Row{0x39, "ABS32_HI_32", Action::kApply, 0x00, {{{32, 32, 32, false}}}},
    Row{0x3a, "ABS47_34", Action::kKeep, 0x00, {{}}},
    Row{0x3b, "ABS16_32", Action::kApply, 0x00, {{{32, 16, 0, false}}}},
    Row{0x3c, "ABS24_32", Action::kApply, 0x00, {{{32, 24, 0, false}}}},
    Row{0x3d, "FUNC_DESC32_32", Action::kRefuse, 0x00, {{}}},
    Row{0x3e, "FUNC_DESC32_LO_32", Action::kRefuse, 0x00, {{}}},
    Row{0x3f, "FUNC_DESC32_HI_32", Action::kRefuse, 0x00, {{}}},
    Row{0x40, "CONST_FIELD19_40", Action::kApply, 0x00, {{{40, 14, 2, false}, {54, 5, 0, true}}}},
    Row{0x41, "BINDLESSOFF14_40", Action::kApply, 0x00, {{{40, 14, 2, false}}}},
    Row{0x42, "CONST_FIELD21_38", Action::kApply, 0x00, {{{38, 16, 0, false}, {54, 5, 0, true}}}},
    Row{0x43, "INSTRUCTION128", Action::kKeep, 0x00, {{}}},
    Row{0x44, "YIELD_OPCODE9_0", Action::kDropUnlessFunction, 0x00, {{}}},
    Row{0x45, "YIELD_CLEAR_PRED4_87", Action::kDropUnlessFunction, 0x00, {{}}},
    Row{0x46, "32_LO", Action::kApply, 0x00, {{{0, 32, 0, false}}}},
    Row{0x47, "32_HI", Action::kApply, 0x00, {{{0, 32, 32, false}}}},
    Row{0x48, "UNUSED_CLEAR32", Action::kClear, 0x00, {{{0, 32, 0, false}}}},
    Row{0x49, "UNUSED_CLEAR64", Action::kClear, 0x00, {{{0, 64, 0, false}}}},
    Row{0x4a, "ABS24_40", Action::kApply, 0x00, {{{40, 24, 0, false}}}},
    Row{0x4b, "ABS55_16_34", Action::kKeep, 0x00, {{}}},
    Row{0x4c, "8_0", Action::kApply, 0x00, {{{0, 8, 0, false}}}},
    Row{0x4d, "8_8", Action::kApply, 0x00, {{{0, 8, 8, false}}}},
    Row{0x4e, "8_16", Action::kApply, 0x00, {{{0, 8, 16, false}}}},
    Row{0x4f, "8_24", Action::kApply, 0x00, {{{0, 8, 24, false}}}},
    Row{0x50, "8_32", Action::kApply, 0x00, {{{0, 8, 32, false}}}},
    Row{0x51, "8_40", Action::kApply, 0x00, {{{0, 8, 40, false}}}},
    Row{0x52, "8_48", Action::kApply, 0x00, {{{0, 8, 48, false}}}},
    Row{0x53, "8_56", Action::kApply, 0x00, {{{0, 8, 56, false}}}},
    Row{0x54, "G8_0", Action::kKeep, 0x00, {{}}},
    Row{0x55, "G8_8", Action::kKeep, 0x00, {{}}},
    Row{0x56, "G8_16", Action::kKeep, 0x00, {{}}},
    Row{0x57, "G8_24", Action::kKeep, 0x00, {{}}},
    Row{0x58, "G8_32", Action::kKeep, 0x00, {{}}},
    Row{0x59, "G8_40", Action::kKeep, 0x00, {{}}},
    Row{0x5a, "G8_48", Action::kKeep, 0x00, {{}}},
    Row{0x5b, "G8_56", Action::kKeep, 0x00, {{}}},
    Row{0x5c, "FUNC_DESC_8_0", Action::kKeep, 0x00, {{}}},
    Row{0x5d, "FUNC_DESC_8_8", Action::kKeep, 0x00, {{}}},
    Row{0x5e, "FUNC_DESC_8_16", Action::kKeep, 0x00, {{}}},
    Row{0x5f, "FUNC_DESC_8_24", Action::kKeep, 0x00, {{}}},
    Row{0x60, "FUNC_DESC_8_32", Action::kKeep, 0x00, {{}}},
    Row{0x61, "FUNC_DESC_8_40", Action::kKeep, 0x00, {{}}},
    Row{0x62, "FUNC_DESC_8_48", Action::kKeep, 0x00, {{}}},
    Row{0x63, "FUNC_DESC_8_56", Action::kKeep, 0x00, {{}}},
    Row{0x64, "ABS20_44", Action::kApply, 0x00, {{{44, 20, 0, false}}}},
    Row{0x65, "SAMP_HEADER_INDEX_0", Action::kKeep, 0x00, {{}}},
    Row{0x66, "UNIFIED", Action::kApply, 0x02, {{{0, 64, 0, false}}}},
    Row{0x67, "UNIFIED_32", Action::kApply, 0x01, {{{0, 32, 0, false}}}},
    Row{0x68, "UNIFIED_8_0", Action::kApply, 0x4c, {{{0, 8, 0, false}}}},
    Row{0x69, "UNIFIED_8_8", Action::kApply, 0x4d, {{{0, 8, 8, false}}}},
    Row{0x6a, "UNIFIED_8_16", Action::kApply, 0x4e, {{{0, 8, 16, false}}}},
    Row{0x6b, "UNIFIED_8_24", Action::kApply, 0x4f, {{{0, 8, 24, false}}}},
    Row{0x6c, "UNIFIED_8_32", Action::kApply, 0x50, {{{0, 8, 32, false}}}},
    Row{0x6d, "UNIFIED_8_40", Action::kApply, 0x51, {{{0, 8, 40, false}}}},
    Row{0x6e, "UNIFIED_8_48", Action::kApply, 0x52, {{{0, 8, 48, false}}}},
    Row{0x6f, "UNIFIED_8_56", Action::kApply, 0x53, {{{0, 8, 56, false}}}},
    Row{0x70, "UNIFIED32_LO_32", Action::kApply, 0x38, {{{32, 32, 0, false}}}},
    Row{0x71, "UNIFIED32_HI_32", Action::kApply, 0x39, {{{32, 32, 32, false}}}},
    Row{0x72, "ABS56_16_34", Action::kKeep, 0x00, {{}}},
    Row{0x73, "CONST_FIELD22_37", Action::kApply, 0x00, {{{37, 17, 0, false}, {54, 5, 0, true}}}},
});

// Of the Mercury view, from kMercuryRelocations on. Found in the same way (docs/mercury.md,
// "Relocations"). The fields are those of data; in code nothing is stored.
constexpr std::array kMercuryRows = Measured(std::array{
    Row{0x10000, "NONE", Action::kRefuse, 0x00, {{}}},
    Row{0x10001, "G64", Action::kKeep, 0x00, {{}}},
    Row{0x10002, "ABS64", Action::kApply, 0x00, {{{0, 64, 0, false}}}},
    Row{0x10003, "ABS32", Action::kApply, 0x00, {{{0, 32, 0, false}}}},
    Row{0x10004, "ABS16", Action::kApply, 0x00, {{{0, 16, 0, false}}}},
    Row{0x10005, "ABS32_LO", Action::kKeep, 0x00, {{}}},
    Row{0x10006, "ABS32_HI", Action::kKeep, 0x00, {{}}},
    Row{0x10007, "PROG_REL64", Action::kKeep, 0x00, {{}}},
    Row{0x10008, "PROG_REL32", Action::kKeep, 0x00, {{}}},
    Row{0x10009, "PROG_REL32_LO", Action::kKeep, 0x00, {{}}},
    Row{0x1000a, "PROG_REL32_HI", Action::kKeep, 0x00, {{}}},
    Row{0x1000b, "TEX_HEADER_INDEX", Action::kKeep, 0x00, {{}}},
    Row{0x1000c, "SAMP_HEADER_INDEX", Action::kKeep, 0x00, {{}}},
    Row{0x1000d, "SURF_HEADER_INDEX", Action::kKeep, 0x00, {{}}},
    Row{0x1000e, "UNUSED_CLEAR64", Action::kClear, 0x00, {{{0, 64, 0, false}}}},
    Row{0x1000f, "FUNC_DESC_64", Action::kRefuse, 0x00, {{}}},
    Row{0x10010, "8_0", Action::kApply, 0x00, {{{0, 8, 0, false}}}},
    Row{0x10011, "8_8", Action::kApply, 0x00, {{{0, 8, 8, false}}}},
    Row{0x10012, "8_16", Action::kApply, 0x00, {{{0, 8, 16, false}}}},
    Row{0x10013, "8_24", Action::kApply, 0x00, {{{0, 8, 24, false}}}},
    Row{0x10014, "8_32", Action::kApply, 0x00, {{{0, 8, 32, false}}}},
    Row{0x10015, "8_40", Action::kApply, 0x00, {{{0, 8, 40, false}}}},
    Row{0x10016, "8_48", Action::kApply, 0x00, {{{0, 8, 48, false}}}},
    Row{0x10017, "8_56", Action::kApply, 0x00, {{{0, 8, 56, false}}}},
    Row{0x10018, "G8_0", Action::kKeep, 0x00, {{}}},
    Row{0x10019, "G8_8", Action::kKeep, 0x00, {{}}},
    Row{0x1001a, "G8_16", Action::kKeep, 0x00, {{}}},
    Row{0x1001b, "G8_24", Action::kKeep, 0x00, {{}}},
    Row{0x1001c, "G8_32", Action::kKeep, 0x00, {{}}},
    Row{0x1001d, "G8_40", Action::kKeep, 0x00, {{}}},
    Row{0x1001e, "G8_48", Action::kKeep, 0x00, {{}}},
    Row{0x1001f, "G8_56", Action::kKeep, 0x00, {{}}},
    Row{0x10020, "FUNC_DESC_8_0", Action::kKeep, 0x00, {{}}},
    Row{0x10021, "FUNC_DESC_8_8", Action::kKeep, 0x00, {{}}},
    Row{0x10022, "FUNC_DESC_8_16", Action::kKeep, 0x00, {{}}},
    Row{0x10023, "FUNC_DESC_8_24", Action::kKeep, 0x00, {{}}},
    Row{0x10024, "FUNC_DESC_8_32", Action::kKeep, 0x00, {{}}},
    Row{0x10025, "FUNC_DESC_8_40", Action::kKeep, 0x00, {{}}},
    Row{0x10026, "FUNC_DESC_8_48", Action::kKeep, 0x00, {{}}},
    Row{0x10027, "FUNC_DESC_8_56", Action::kKeep, 0x00, {{}}},
    Row{0x10028, "ABS_PROG_REL32_LO", Action::kKeep, 0x00, {{}}},
    Row{0x10029, "ABS_PROG_REL32_HI", Action::kKeep, 0x00, {{}}},
    Row{0x1002a, "PROG_REL8_0", Action::kKeep, 0x00, {{}}},
    Row{0x1002b, "PROG_REL8_8", Action::kKeep, 0x00, {{}}},
    Row{0x1002c, "PROG_REL8_16", Action::kKeep, 0x00, {{}}},
    Row{0x1002d, "PROG_REL8_24", Action::kKeep, 0x00, {{}}},
    Row{0x1002e, "PROG_REL8_32", Action::kKeep, 0x00, {{}}},
    Row{0x1002f, "PROG_REL8_40", Action::kKeep, 0x00, {{}}},
    Row{0x10030, "PROG_REL8_48", Action::kKeep, 0x00, {{}}},
    Row{0x10031, "PROG_REL8_56", Action::kKeep, 0x00, {{}}},
    Row{0x10032, "UNIFIED", Action::kApply, 0x10002, {{{0, 64, 0, false}}}},
    Row{0x10033, "UNIFIED_32", Action::kApply, 0x10003, {{{0, 32, 0, false}}}},
    Row{0x10034, "UNIFIED_8_0", Action::kApply, 0x10010, {{{0, 8, 0, false}}}},
    Row{0x10035, "UNIFIED_8_8", Action::kApply, 0x10011, {{{0, 8, 8, false}}}},
    Row{0x10036, "UNIFIED_8_16", Action::kApply, 0x10012, {{{0, 8, 16, false}}}},
    Row{0x10037, "UNIFIED_8_24", Action::kApply, 0x10013, {{{0, 8, 24, false}}}},
    Row{0x10038, "UNIFIED_8_32", Action::kApply, 0x10014, {{{0, 8, 32, false}}}},
    Row{0x10039, "UNIFIED_8_40", Action::kApply, 0x10015, {{{0, 8, 40, false}}}},
    Row{0x1003a, "UNIFIED_8_48", Action::kApply, 0x10016, {{{0, 8, 48, false}}}},
    Row{0x1003b, "UNIFIED_8_56", Action::kApply, 0x10017, {{{0, 8, 56, false}}}},
    Row{0x1003c, "ABS_PROG_REL32", Action::kKeep, 0x00, {{}}},
    Row{0x1003d, "ABS_PROG_REL64", Action::kKeep, 0x00, {{}}},
    Row{0x1003e, "UNIFIED32_LO", Action::kKeep, 0x10005, {{}}},
    Row{0x1003f, "UNIFIED32_HI", Action::kKeep, 0x10006, {{}}},
});
// clang-format on

template <typename Rows>
constexpr bool IsIndexedByType(const Rows& rows, std::uint32_t first) {
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    if (rows[i].type != first + i) return false;
  }
  return true;
}
static_assert(IsIndexedByType(kRows, 0) && IsIndexedByType(kMercuryRows, kMercuryRelocations));

// The types that stand for one another in code, found in 2,400 cubins (docs/mercury.md, "Held to
// each other"). Some do only where code refers to itself.
enum class Whose : std::uint8_t { kAny, kOwn, kOther };
struct TypePair {
  std::uint32_t sass = 0;
  std::uint32_t mercury = 0;
  Whose whose = Whose::kAny;
};
constexpr TypePair kTypePairs[] = {
    {0x37, 0x10003},                 // ABS32_32
    {0x73, 0x10003},                 // CONST_FIELD22_37
    {0x3b, 0x10004},                 // ABS16_32
    {0x42, 0x10004},                 // CONST_FIELD21_38
    {0x4b, 0x10002},                 // ABS55_16_34
    {0x72, 0x10002},                 // ABS56_16_34
    {0x38, 0x10005, Whose::kOther},  // ABS32_LO_32
    {0x38, 0x10028, Whose::kOwn},
    {0x39, 0x10006, Whose::kOther},  // ABS32_HI_32
    {0x39, 0x10029, Whose::kOwn},
    {0x3e, 0x10005},  // FUNC_DESC32_LO_32
    {0x3e, 0x1003e},
    {0x3f, 0x10006},  // FUNC_DESC32_HI_32
    {0x3f, 0x1003f},
    {0x70, 0x1003e},  // UNIFIED32_LO_32
    {0x71, 0x1003f},  // UNIFIED32_HI_32
};

}  // namespace

std::vector<Rela> ReadRelocations(base::Bytes list, bool has_addend) {
  const std::uint64_t step = SizeOfRelocation(has_addend);
  const base::BoundedReader bytes(list);
  std::vector<Rela> out;
  out.reserve(list.size() / step);
  for (std::uint64_t at = 0; at + step <= list.size(); at += step) {
    const Rel entry = bytes.ReadOrZero<Rel>(at);
    const auto addend = has_addend ? bytes.ReadOrZero<std::int64_t>(at + kRelSize) : 0;
    out.push_back({entry.offset, entry.type, entry.symbol, addend});
  }
  return out;
}

std::vector<std::uint8_t> WriteRelocations(std::span<const Rela> entries, bool has_addend) {
  const std::uint64_t step = SizeOfRelocation(has_addend);
  std::vector<std::uint8_t> out(entries.size() * step);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::memcpy(out.data() + i * step, &entries[i], step);  // the addend comes last
  }
  return out;
}

const RelocationInfo* FindRelocation(std::uint32_t type) {
  if (type < kRows.size()) return &kRows[type];
  if (!IsMercuryRelocation(type)) return nullptr;
  const std::uint32_t index = type - kMercuryRelocations;
  return index < kMercuryRows.size() ? &kMercuryRows[index] : nullptr;
}

bool AreCounterpartsInCode(std::uint32_t sass, std::uint32_t mercury, bool own) {
  bool known = false;
  for (const TypePair& pair : kTypePairs) {
    if (pair.sass == sass && pair.mercury == mercury &&
        (pair.whose == Whose::kAny || (pair.whose == Whose::kOwn) == own)) {
      return true;
    }
    known = known || pair.sass == sass || pair.mercury == mercury;
  }
  return !known;
}

// They have one name, but that Mercury says ABS64 for what has no other name than 64.
bool AreCounterpartsInData(std::uint32_t sass, std::uint32_t mercury) {
  const RelocationInfo* const ours = FindRelocation(sass);
  const RelocationInfo* const others = FindRelocation(mercury);
  if (ours == nullptr || others == nullptr) return false;
  const std::string_view name = others->name;
  return name == ours->name || (name.starts_with("ABS") && name.substr(3) == ours->name);
}

namespace {

constexpr bool IsAmong(std::uint32_t type, std::uint32_t first, std::uint32_t last) {
  return type >= first && type <= last;
}

// Words, bytes of words, and descriptors of functions.
constexpr bool IsOfData(std::uint32_t type) {
  return IsAmong(type, 0x01, 0x04) || IsAmong(type, 0x22, 0x23) || IsAmong(type, 0x46, 0x47) ||
         IsAmong(type, 0x4c, 0x63) || IsAmong(type, 0x66, 0x6f);
}
constexpr bool IsOfDebug(std::uint32_t type) {
  return IsAmong(type, 0x01, 0x04) || IsAmong(type, 0x48, 0x49);
}
// Those below are of instructions of 64 bits, or say what the driver puts where.
constexpr bool IsOfCode(std::uint32_t type) {
  constexpr std::uint32_t kFirstOfLongInstructions = 0x37;
  return type >= kFirstOfLongInstructions && !IsOfData(type) && !IsOfDebug(type);
}

// The Mercury view has ABS64 and ABS32 both in code and in data.
constexpr bool IsOfMercuryData(std::uint32_t type) {
  return IsAmong(type, 0x10001, 0x10003) || IsAmong(type, 0x10007, 0x10008) ||
         IsAmong(type, 0x1000f, 0x10027) || IsAmong(type, 0x1002a, 0x1003b);
}
constexpr bool IsOfMercuryDebug(std::uint32_t type) {
  return IsAmong(type, 0x10001, 0x10003) || IsAmong(type, 0x10007, 0x10008) || type == 0x1000e ||
         IsAmong(type, 0x1003c, 0x1003d);
}
constexpr bool IsOfMercuryCode(std::uint32_t type) {
  return IsAmong(type, 0x10002, 0x10003) || (!IsOfMercuryData(type) && !IsOfMercuryDebug(type));
}

constexpr std::uint8_t BitOf(FieldPlace place) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(place));
}

// For each row of a table in which places its type can be. Found in 15,000 cubins
// (docs/cubin-format.md, "Relocations"); of types that none of them has, by their names.
template <typename Rows>
constexpr auto PlacesOf(const Rows& rows) {
  std::array<std::uint8_t, std::tuple_size_v<Rows>> out = {};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t type = rows[i].type;
    const bool mercury = IsMercuryRelocation(type);
    unsigned places = 0;
    if (mercury ? IsOfMercuryCode(type) : IsOfCode(type)) places |= BitOf(FieldPlace::kCode);
    if (mercury ? IsOfMercuryData(type) : IsOfData(type)) places |= BitOf(FieldPlace::kData);
    if (mercury ? IsOfMercuryDebug(type) : IsOfDebug(type)) places |= BitOf(FieldPlace::kDebug);
    out[i] = static_cast<std::uint8_t>(places);
  }
  return out;
}
constexpr auto kPlaces = PlacesOf(kRows);
constexpr auto kMercuryPlaces = PlacesOf(kMercuryRows);

}  // namespace

bool CanBeIn(std::uint32_t type, FieldPlace place) {
  if (type < kPlaces.size()) return (kPlaces[type] & BitOf(place)) != 0;
  const std::uint32_t index = type - kMercuryRelocations;
  return IsMercuryRelocation(type) && index < kMercuryPlaces.size() &&
         (kMercuryPlaces[index] & BitOf(place)) != 0;
}

// By the low twelve bits of an instruction, of which the upper three tell where its operands come
// from: 940,000 relocations in 12,486 cubins, in which addresses are only moved (0x802, 0x882) and
// only called (0x943); whatever else could take what the type fills is let pass
// (docs/cubin-format.md, "Relocations").
bool CanBeOfInstruction(std::uint32_t type, std::uint32_t instruction) {
  const std::uint32_t operation = instruction & 0x1ff;
  const std::uint32_t operands = instruction >> 9 & 7;
  constexpr std::uint32_t kFirstBeyondArithmetic = 0x100;  // conversions, memory, control
  switch (type) {
    case 0x37:  // ABS32_32, ABS32_LO_32, ABS32_HI_32, ABS16_32: a number in the instruction
    case 0x38:
    case 0x39:
    case 0x3b:
    case 0x3e:  // FUNC_DESC32_LO_32, FUNC_DESC32_HI_32
    case 0x3f:
    case 0x70:  // UNIFIED32_LO_32, UNIFIED32_HI_32
    case 0x71:
      return operation < kFirstBeyondArithmetic && (operands == 2 || operands == 4);
    case 0x40:  // CONST_FIELD19_40: an operand in a bank of constants
      return operands == 3 || operands == 5;
    case 0x3a:  // ABS47_34, ABS55_16_34: of a call or a jump
    case 0x4b:
      return operation == 0x143 || operation == 0x14a;
    case 0x44:  // YIELD_OPCODE9_0, YIELD_CLEAR_PRED4_87
    case 0x45:
      return operation == 0x146;
    default:
      return true;
  }
}

// Found in the call graphs of 3,119 cubins (docs/cubin-format.md, "Call graph and prototypes").
FunctionUse FunctionUseOf(std::uint32_t type) {
  switch (type) {
    case 0x3a:  // ABS47_34
    case 0x4b:  // ABS55_16_34
      return FunctionUse::kCall;
    case 0x38:  // ABS32_LO_32
    case 0x39:  // ABS32_HI_32
    case 0x3e:  // FUNC_DESC32_LO_32
    case 0x3f:  // FUNC_DESC32_HI_32
    case 0x70:  // UNIFIED32_LO_32
    case 0x71:  // UNIFIED32_HI_32
      return FunctionUse::kAddress;
    default:
      return FunctionUse::kUnknown;
  }
}

}  // namespace devlink::format
