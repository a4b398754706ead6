// SPDX-License-Identifier: Apache-2.0
#include "format/nv_info.h"

#include <array>

namespace devlink::format {

namespace {

// By number.
constexpr std::array<std::string_view, 0x60> kAttributeNames = {"ERROR",
                                                                "PAD",
                                                                "IMAGE_SLOT",
                                                                "JUMPTABLE_RELOCS",
                                                                "CTAIDZ_USED",
                                                                "MAX_THREADS",
                                                                "IMAGE_OFFSET",
                                                                "IMAGE_SIZE",
                                                                "TEXTURE_NORMALIZED",
                                                                "SAMPLER_INIT",
                                                                "PARAM_CBANK",
                                                                "SMEM_PARAM_OFFSETS",
                                                                "CBANK_PARAM_OFFSETS",
                                                                "SYNC_STACK",
                                                                "TEXID_SAMPID_MAP",
                                                                "EXTERNS",
                                                                "REQNTID",
                                                                "FRAME_SIZE",
                                                                "MIN_STACK_SIZE",
                                                                "SAMPLER_FORCE_UNNORMALIZED",
                                                                "BINDLESS_IMAGE_OFFSETS",
                                                                "BINDLESS_TEXTURE_BANK",
                                                                "BINDLESS_SURFACE_BANK",
                                                                "KPARAM_INFO",
                                                                "SMEM_PARAM_SIZE",
                                                                "CBANK_PARAM_SIZE",
                                                                "QUERY_NUMATTRIB",
                                                                "MAXREG_COUNT",
                                                                "EXIT_INSTR_OFFSETS",
                                                                "S2RCTAID_INSTR_OFFSETS",
                                                                "CRS_STACK_SIZE",
                                                                "NEED_CNP_WRAPPER",
                                                                "NEED_CNP_PATCH",
                                                                "EXPLICIT_CACHING",
                                                                "ISTYPEP_USED",
                                                                "MAX_STACK_SIZE",
                                                                "SUQ_USED",
                                                                "LD_CACHEMOD_INSTR_OFFSETS",
                                                                "LOAD_CACHE_REQUEST",
                                                                "ATOM_SYS_INSTR_OFFSETS",
                                                                "COOP_GROUP_INSTR_OFFSETS",
                                                                "COOP_GROUP_MASK_REGIDS",
                                                                "SW1850030_WAR",
                                                                "WMMA_USED",
                                                                "HAS_PRE_V10_OBJECT",
                                                                "ATOMF16_EMUL_INSTR_OFFSETS",
                                                                "ATOM16_EMUL_INSTR_REG_MAP",
                                                                "REGCOUNT",
                                                                "SW2393858_WAR",
                                                                "INT_WARP_WIDE_INSTR_OFFSETS",
                                                                "SHARED_SCRATCH",
                                                                "STATISTICS",
                                                                "INDIRECT_BRANCH_TARGETS",
                                                                "SW2861232_WAR",
                                                                "SW_WAR",
                                                                "CUDA_API_VERSION",
                                                                "NUM_MBARRIERS",
                                                                "MBARRIER_INSTR_OFFSETS",
                                                                "COROUTINE_RESUME_OFFSETS",
                                                                "SAM_REGION_STACK_SIZE",
                                                                "PER_REG_TARGET_PERF_STATS",
                                                                "CTA_PER_CLUSTER",
                                                                "EXPLICIT_CLUSTER",
                                                                "MAX_CLUSTER_RANK",
                                                                "INSTR_REG_MAP",
                                                                "RESERVED_SMEM_USED",
                                                                "RESERVED_SMEM_0_SIZE",
                                                                "UCODE_SECTION_DATA",
                                                                "UNUSED_LOAD_BYTE_OFFSET",
                                                                "KPARAM_INFO_V2",
                                                                "SYSCALL_OFFSETS",
                                                                "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS",
                                                                "GRAPHICS_GLOBAL_CBANK",
                                                                "SHADER_TYPE",
                                                                "VRC_CTA_INIT_COUNT",
                                                                "TOOLS_PATCH_FUNC",
                                                                "NUM_BARRIERS",
                                                                "TEXMODE_INDEPENDENT",
                                                                "PERF_STATISTICS",
                                                                "AT_ENTRY_FRAGMENTS",
                                                                "SPARSE_MMA_MASK",
                                                                "TCGEN05_1CTA_USED",
                                                                "TCGEN05_2CTA_USED",
                                                                "GEN_ERRBAR_AT_EXIT",
                                                                "REG_RECONFIG",
                                                                "ANNOTATIONS",
                                                                "UNKNOWN",
                                                                "STACK_CANARY_TRAP_OFFSETS",
                                                                "STUB_FUNCTION_KIND",
                                                                "LOCAL_CTA_ASYNC_STORE_OFFSETS",
                                                                "MERCURY_FINALIZER_OPTIONS",
                                                                "BLOCKS_ARE_CLUSTERS",
                                                                "SANITIZE",
                                                                "SYSCALLS_FALLBACK",
                                                                "CUDA_REQ",
                                                                "MERCURY_ISA_VERSION"};

}  // namespace

bool InfoReader::Next(InfoRecord& out) {
  if (offset_ == reader_.size()) return false;
  well_formed_ = false;
  if (!reader_.Read(offset_, out.format) || !reader_.Read(offset_ + 1, out.id) ||
      !reader_.Read(offset_ + 2, out.value)) {
    return false;
  }
  offset_ += 4;
  out.payload = {};
  if (out.format == kInfoSized) {
    const auto payload = reader_.Slice(offset_, out.value);
    if (!payload) return false;
    out.payload = *payload;
    offset_ += out.value;
  } else if (out.format < kInfoNoValue || out.format > kInfoSized) {
    return false;
  }
  well_formed_ = true;
  return true;
}

std::string_view InfoAttributeName(std::uint8_t id) {
  return id < kAttributeNames.size() ? kAttributeNames[id] : std::string_view();
}

}  // namespace devlink::format
