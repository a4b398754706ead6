// SPDX-License-Identifier: Apache-2.0
#include "devlink-diff/cubin_names.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace devlink::diff {
namespace {

// clang-format off
constexpr auto kAttributes = std::to_array<std::string_view>({
    "ERROR", "PAD", "IMAGE_SLOT", "JUMPTABLE_RELOCS", "CTAIDZ_USED", "MAX_THREADS", "IMAGE_OFFSET",
    "IMAGE_SIZE", "TEXTURE_NORMALIZED", "SAMPLER_INIT", "PARAM_CBANK", "SMEM_PARAM_OFFSETS",
    "CBANK_PARAM_OFFSETS", "SYNC_STACK", "TEXID_SAMPID_MAP", "EXTERNS", "REQNTID", "FRAME_SIZE",
    "MIN_STACK_SIZE", "SAMPLER_FORCE_UNNORMALIZED", "BINDLESS_IMAGE_OFFSETS",
    "BINDLESS_TEXTURE_BANK", "BINDLESS_SURFACE_BANK", "KPARAM_INFO", "SMEM_PARAM_SIZE",
    "CBANK_PARAM_SIZE", "QUERY_NUMATTRIB", "MAXREG_COUNT", "EXIT_INSTR_OFFSETS",
    "S2RCTAID_INSTR_OFFSETS", "CRS_STACK_SIZE", "NEED_CNP_WRAPPER", "NEED_CNP_PATCH",
    "EXPLICIT_CACHING", "ISTYPEP_USED", "MAX_STACK_SIZE", "SUQ_USED", "LD_CACHEMOD_INSTR_OFFSETS",
    "LOAD_CACHE_REQUEST", "ATOM_SYS_INSTR_OFFSETS", "COOP_GROUP_INSTR_OFFSETS",
    "COOP_GROUP_MASK_REGIDS", "SW1850030_WAR", "WMMA_USED", "HAS_PRE_V10_OBJECT",
    "ATOMF16_EMUL_INSTR_OFFSETS", "ATOM16_EMUL_INSTR_REG_MAP", "REGCOUNT", "SW2393858_WAR",
    "INT_WARP_WIDE_INSTR_OFFSETS", "SHARED_SCRATCH", "STATISTICS", "INDIRECT_BRANCH_TARGETS",
    "SW2861232_WAR", "SW_WAR", "CUDA_API_VERSION", "NUM_MBARRIERS", "MBARRIER_INSTR_OFFSETS",
    "COROUTINE_RESUME_OFFSETS", "SAM_REGION_STACK_SIZE", "PER_REG_TARGET_PERF_STATS",
    "CTA_PER_CLUSTER", "EXPLICIT_CLUSTER", "MAX_CLUSTER_RANK", "INSTR_REG_MAP",
    "RESERVED_SMEM_USED", "RESERVED_SMEM_0_SIZE", "UCODE_SECTION_DATA", "UNUSED_LOAD_BYTE_OFFSET",
    "KPARAM_INFO_V2", "SYSCALL_OFFSETS", "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS", "GRAPHICS_GLOBAL_CBANK",
    "SHADER_TYPE", "VRC_CTA_INIT_COUNT", "TOOLS_PATCH_FUNC", "NUM_BARRIERS", "TEXMODE_INDEPENDENT",
    "PERF_STATISTICS", "AT_ENTRY_FRAGMENTS", "SPARSE_MMA_MASK", "TCGEN05_1CTA_USED",
    "TCGEN05_2CTA_USED", "GEN_ERRBAR_AT_EXIT", "REG_RECONFIG", "ANNOTATIONS", "UNKNOWN",
    "STACK_CANARY_TRAP_OFFSETS", "STUB_FUNCTION_KIND", "LOCAL_CTA_ASYNC_STORE_OFFSETS",
    "MERCURY_FINALIZER_OPTIONS", "BLOCKS_ARE_CLUSTERS", "SANITIZE", "SYSCALLS_FALLBACK", "CUDA_REQ",
    "MERCURY_ISA_VERSION", "ERROR_LAST",
});

constexpr auto kRelocations = std::to_array<std::string_view>({
    "NONE", "32", "64", "G32", "G64", "ABS32_26", "TEX_HEADER_INDEX", "SAMP_HEADER_INDEX",
    "SURF_HW_DESC", "SURF_HW_SW_DESC", "ABS32_LO_26", "ABS32_HI_26", "ABS32_23", "ABS32_LO_23",
    "ABS32_HI_23", "ABS24_26", "ABS24_23", "ABS16_26", "ABS16_23", "TEX_SLOT", "SAMP_SLOT",
    "SURF_SLOT", "TEX_BINDLESSOFF13_32", "TEX_BINDLESSOFF13_47", "CONST_FIELD19_28",
    "CONST_FIELD19_23", "TEX_SLOT9_49", "6_31", "2_47", "TEX_BINDLESSOFF13_41",
    "TEX_BINDLESSOFF13_45", "FUNC_DESC32_23", "FUNC_DESC32_LO_23", "FUNC_DESC32_HI_23",
    "FUNC_DESC_32", "FUNC_DESC_64", "CONST_FIELD21_26", "QUERY_DESC21_37", "CONST_FIELD19_26",
    "CONST_FIELD21_23", "PCREL_IMM24_26", "PCREL_IMM24_23", "ABS32_20", "ABS32_LO_20",
    "ABS32_HI_20", "ABS24_20", "ABS16_20", "FUNC_DESC32_20", "FUNC_DESC32_LO_20",
    "FUNC_DESC32_HI_20", "CONST_FIELD19_20", "BINDLESSOFF13_36", "SURF_HEADER_INDEX",
    "INSTRUCTION64", "CONST_FIELD21_20", "ABS32_32", "ABS32_LO_32", "ABS32_HI_32", "ABS47_34",
    "ABS16_32", "ABS24_32", "FUNC_DESC32_32", "FUNC_DESC32_LO_32", "FUNC_DESC32_HI_32",
    "CONST_FIELD19_40", "BINDLESSOFF14_40", "CONST_FIELD21_38", "INSTRUCTION128", "YIELD_OPCODE9_0",
    "YIELD_CLEAR_PRED4_87", "32_LO", "32_HI", "UNUSED_CLEAR32", "UNUSED_CLEAR64", "ABS24_40",
    "ABS55_16_34", "8_0", "8_8", "8_16", "8_24", "8_32", "8_40", "8_48", "8_56", "G8_0", "G8_8",
    "G8_16", "G8_24", "G8_32", "G8_40", "G8_48", "G8_56", "FUNC_DESC_8_0", "FUNC_DESC_8_8",
    "FUNC_DESC_8_16", "FUNC_DESC_8_24", "FUNC_DESC_8_32", "FUNC_DESC_8_40", "FUNC_DESC_8_48",
    "FUNC_DESC_8_56", "ABS20_44", "SAMP_HEADER_INDEX_0", "UNIFIED", "UNIFIED_32", "UNIFIED_8_0",
    "UNIFIED_8_8", "UNIFIED_8_16", "UNIFIED_8_24", "UNIFIED_8_32", "UNIFIED_8_40", "UNIFIED_8_48",
    "UNIFIED_8_56", "UNIFIED32_LO_32", "UNIFIED32_HI_32", "ABS56_16_34", "CONST_FIELD22_37",
    "NONE_LAST",
});

constexpr auto kMercuryRelocations = std::to_array<std::string_view>({
    "NONE", "G64", "ABS64", "ABS32", "ABS16", "ABS32_LO", "ABS32_HI", "PROG_REL64", "PROG_REL32",
    "PROG_REL32_LO", "PROG_REL32_HI", "TEX_HEADER_INDEX", "SAMP_HEADER_INDEX", "SURF_HEADER_INDEX",
    "UNUSED_CLEAR64", "FUNC_DESC_64", "8_0", "8_8", "8_16", "8_24", "8_32", "8_40", "8_48", "8_56",
    "G8_0", "G8_8", "G8_16", "G8_24", "G8_32", "G8_40", "G8_48", "G8_56", "FUNC_DESC_8_0",
    "FUNC_DESC_8_8", "FUNC_DESC_8_16", "FUNC_DESC_8_24", "FUNC_DESC_8_32", "FUNC_DESC_8_40",
    "FUNC_DESC_8_48", "FUNC_DESC_8_56", "ABS_PROG_REL32_LO", "ABS_PROG_REL32_HI", "PROG_REL8_0",
    "PROG_REL8_8", "PROG_REL8_16", "PROG_REL8_24", "PROG_REL8_32", "PROG_REL8_40", "PROG_REL8_48",
    "PROG_REL8_56", "UNIFIED", "UNIFIED_32", "UNIFIED_8_0", "UNIFIED_8_8", "UNIFIED_8_16",
    "UNIFIED_8_24", "UNIFIED_8_32", "UNIFIED_8_40", "UNIFIED_8_48", "UNIFIED_8_56",
    "ABS_PROG_REL32", "ABS_PROG_REL64", "UNIFIED32_LO", "UNIFIED32_HI", "NONE_LAST",
});
// clang-format on

constexpr std::uint32_t kFirstMercuryRelocation = 0x10000;
constexpr std::uint32_t kFirstConstantBank = 0x70000064;
constexpr std::uint32_t kConstantBanks = 32;

constexpr auto kSectionTypes = std::to_array<std::pair<std::uint32_t, std::string_view>>({
    {0x0, "NULL"},
    {0x1, "PROGBITS"},
    {0x2, "SYMTAB"},
    {0x3, "STRTAB"},
    {0x4, "RELA"},
    {0x7, "NOTE"},
    {0x8, "NOBITS"},
    {0x9, "REL"},
    {0x12, "SYMTAB_SHNDX"},
    {0x70000000, "CUDA_INFO"},
    {0x70000001, "CUDA_CALLGRAPH"},
    {0x70000002, "CUDA_PROTOTYPE"},
    {0x70000003, "CUDA_RESOLVED_RELA"},
    {0x70000004, "CUDA_METADATA"},
    {0x70000006, "CUDA_CONSTANT"},
    {0x70000007, "CUDA_GLOBAL"},
    {0x70000008, "CUDA_GLOBAL_INIT"},
    {0x70000009, "CUDA_LOCAL"},
    {0x7000000a, "CUDA_SHARED"},
    {0x7000000b, "CUDA_RELOCINFO"},
    {0x7000000e, "CUDA_UFT"},
    {0x70000011, "CUDA_UFT_ENTRY"},
    {0x70000012, "CUDA_UDT"},
    {0x70000014, "CUDA_UDT_ENTRY"},
    {0x70000015, "CUDA_SHARED_RESERVED"},
    {0x70000016, "CUDA_CAPMERC"},
    {0x7000007c, "CUDA_MERC_CONSTANT_USER"},
    {0x7000007d, "CUDA_MERC_CONSTANT_PIC"},
    {0x70000082, "CUDA_MERC_RELA"},
    {0x70000083, "CUDA_MERC_INFO"},
    {0x70000084, "CUDA_MERC_CONSTANT_OPTIMIZER"},
    {0x70000085, "CUDA_MERC_SYMTAB"},
    {0x70000086, "CUDA_COMPAT"},
    {0x70000087, "CUDA_HOST"},
});

std::string Number(std::uint32_t number) { return absl::StrCat("0x", absl::Hex(number)); }

}  // namespace

std::string AttributeName(std::uint8_t id) {
  return id < kAttributes.size() ? std::string(kAttributes[id]) : Number(id);
}

std::string RelocationName(std::uint32_t type) {
  if (type < kRelocations.size()) return "R_CUDA_" + std::string(kRelocations[type]);
  const std::uint32_t mercury = type - kFirstMercuryRelocation;
  if (type >= kFirstMercuryRelocation && mercury < kMercuryRelocations.size()) {
    return "R_MERCURY_" + std::string(kMercuryRelocations[mercury]);
  }
  return Number(type);
}

std::string SectionTypeName(std::uint32_t type) {
  for (const auto& [number, name] : kSectionTypes) {
    if (number == type) return std::string(name);
  }
  if (type >= kFirstConstantBank && type < kFirstConstantBank + kConstantBanks) {
    return "CUDA_CONSTANT" + std::to_string(type - kFirstConstantBank);
  }
  return Number(type);
}

}  // namespace devlink::diff
