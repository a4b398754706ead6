// SPDX-License-Identifier: Apache-2.0
#include "format/relocations.h"

#include <array>

namespace devlink::format {

namespace {

using Action = RelocationAction;
using Row = RelocationInfo;

// By type. Found by giving a relocation of a real cubin each type in turn and linking it against
// every class of symbol (docs/cubin-format.md, "Relocations"); parts are {bit, width, low value
// bit, bank}.
// clang-format off
constexpr std::array kRows = {
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
};
// clang-format on

constexpr bool IsIndexedByType() {
  for (std::uint32_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].type != i) return false;
  }
  return true;
}
static_assert(IsIndexedByType());

}  // namespace

const RelocationInfo* FindRelocation(std::uint32_t type) {
  return type < kRows.size() ? &kRows[type] : nullptr;
}

}  // namespace devlink::format
