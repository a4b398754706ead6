// SPDX-License-Identifier: Apache-2.0
#include "format/nv_info.h"

#include <array>
#include <cstddef>

#include "format/capsule.h"

namespace devlink::format {

namespace {

using Symbols = InfoSymbols;
using Travel = InfoTravel;
using Views = InfoViews;
using Row = InfoAttribute;
constexpr std::uint8_t kWords = kInfoWords;
constexpr std::uint8_t kPlacesInCode = kInfoPlaces;
constexpr std::uint8_t kMark = kInfoMark;
constexpr std::uint8_t kByte = kInfoByte;
constexpr std::uint8_t kHalf = kInfoHalf;

// By number. The names are those that the 13.x tools print. What travels was found by patching one
// attribute of a callee to every number in three formats, with one entry and with two
// (docs/cubin-format.md, "Attributes that travel"); rows with another origin say so. How the views
// of a cubin have it was found in 2,400 cubins (docs/mercury.md, "Held to each other"), sizes of
// payloads in 12,600 ("Section order").
// clang-format off
constexpr std::array kInfoRows = {
    Row{0x00, "ERROR"},
    Row{0x01, "PAD"},
    Row{0x02, "IMAGE_SLOT"},
    Row{0x03, "JUMPTABLE_RELOCS"},
    Row{0x04, "CTAIDZ_USED", kMark, Views::kUnknown, Symbols::kNone, Travel::kMark, kInfoNoValue},
    Row{0x05, "MAX_THREADS", 12, Views::kSame},
    Row{0x06, "IMAGE_OFFSET"},
    Row{0x07, "IMAGE_SIZE"},
    Row{0x08, "TEXTURE_NORMALIZED"},
    Row{0x09, "SAMPLER_INIT", 8, Views::kUnknown, Symbols::kOne},  // "Textures"
    Row{0x0a, "PARAM_CBANK", 8, Views::kOne, Symbols::kSectionSymbol},  // random links: the bank moves, and the record follows it
    Row{0x0b, "SMEM_PARAM_OFFSETS"},
    Row{0x0c, "CBANK_PARAM_OFFSETS"},
    Row{0x0d, "SYNC_STACK"},
    Row{0x0e, "TEXID_SAMPID_MAP"},
    Row{0x0f, "EXTERNS", kWords, Views::kSame, Symbols::kAll, Travel::kUndefinedNames, kInfoSized},  // "Attributes that travel": 40 links in all file orders
    Row{0x10, "REQNTID", 12, Views::kSame},
    Row{0x11, "FRAME_SIZE", 8, Views::kSame, Symbols::kOne},  // "Call graph and prototypes"
    Row{0x12, "MIN_STACK_SIZE", 8, Views::kSame, Symbols::kOne},  // "Call graph and prototypes"
    Row{0x13, "SAMPLER_FORCE_UNNORMALIZED", 8, Views::kUnknown, Symbols::kOne},  // "Textures"
    Row{0x14, "BINDLESS_IMAGE_OFFSETS"},
    Row{0x15, "BINDLESS_TEXTURE_BANK", kByte},
    Row{0x16, "BINDLESS_SURFACE_BANK", kByte},
    Row{0x17, "KPARAM_INFO", 12, Views::kSame},
    Row{0x18, "SMEM_PARAM_SIZE"},
    Row{0x19, "CBANK_PARAM_SIZE", kHalf, Views::kOne},
    Row{0x1a, "QUERY_NUMATTRIB"},
    Row{0x1b, "MAXREG_COUNT", kHalf, Views::kSame},
    Row{0x1c, "EXIT_INSTR_OFFSETS", kPlacesInCode, Views::kCodePlaces},
    Row{0x1d, "S2RCTAID_INSTR_OFFSETS"},
    Row{0x1e, "CRS_STACK_SIZE", 4, Views::kSame},
    Row{0x1f, "NEED_CNP_WRAPPER"},
    Row{0x20, "NEED_CNP_PATCH"},
    Row{0x21, "EXPLICIT_CACHING"},
    Row{0x22, "ISTYPEP_USED"},
    Row{0x23, "MAX_STACK_SIZE", 8, Views::kSame, Symbols::kOne},  // "Attributes that travel": dropped from executables
    Row{0x24, "SUQ_USED"},
    Row{0x25, "LD_CACHEMOD_INSTR_OFFSETS"},
    Row{0x26, "LOAD_CACHE_REQUEST"},
    Row{0x27, "ATOM_SYS_INSTR_OFFSETS"},
    Row{0x28, "COOP_GROUP_INSTR_OFFSETS", kPlacesInCode, Views::kCodePlaces},
    Row{0x29, "COOP_GROUP_MASK_REGIDS", kWords, Views::kSame},
    Row{0x2a, "SW1850030_WAR"},
    Row{0x2b, "WMMA_USED"},
    Row{0x2c, "HAS_PRE_V10_OBJECT"},
    Row{0x2d, "ATOMF16_EMUL_INSTR_OFFSETS"},
    Row{0x2e, "ATOM16_EMUL_INSTR_REG_MAP"},
    Row{0x2f, "REGCOUNT", 8, Views::kSame, Symbols::kOne},  // "Call graph and prototypes"
    Row{0x30, "SW2393858_WAR"},
    Row{0x31, "INT_WARP_WIDE_INSTR_OFFSETS", kPlacesInCode, Views::kCodePlaces},
    Row{0x32, "SHARED_SCRATCH"},
    Row{0x33, "STATISTICS"},
    Row{0x34, "INDIRECT_BRANCH_TARGETS", kWords, Views::kSameSize},
    Row{0x35, "SW2861232_WAR", kMark},
    Row{0x36, "SW_WAR", 4, Views::kOne},
    Row{0x37, "CUDA_API_VERSION", 4, Views::kSame},
    Row{0x38, "NUM_MBARRIERS", kHalf, Views::kSame, Symbols::kNone, Travel::kSum, kInfoHalfValue},
    Row{0x39, "MBARRIER_INSTR_OFFSETS", kWords, Views::kSameSize},
    Row{0x3a, "COROUTINE_RESUME_OFFSETS"},
    Row{0x3b, "SAM_REGION_STACK_SIZE"},
    Row{0x3c, "PER_REG_TARGET_PERF_STATS"},
    Row{0x3d, "CTA_PER_CLUSTER", 12, Views::kSame},
    Row{0x3e, "EXPLICIT_CLUSTER", kMark, Views::kSame},
    Row{0x3f, "MAX_CLUSTER_RANK", 4, Views::kSame},
    Row{0x40, "INSTR_REG_MAP", kWords},
    Row{0x41, "RESERVED_SMEM_USED", kMark, Views::kSame, Symbols::kNone, Travel::kMark, kInfoNoValue},
    Row{0x42, "RESERVED_SMEM_0_SIZE"},
    Row{0x43, "UCODE_SECTION_DATA"},
    Row{0x44, "UNUSED_LOAD_BYTE_OFFSET"},
    Row{0x45, "KPARAM_INFO_V2", 12},
    Row{0x46, "SYSCALL_OFFSETS", kPlacesInCode},
    Row{0x47, "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS"},
    Row{0x48, "GRAPHICS_GLOBAL_CBANK"},
    Row{0x49, "SHADER_TYPE"},
    Row{0x4a, "VRC_CTA_INIT_COUNT", kByte, Views::kSame, Symbols::kNone, Travel::kMaximum, kInfoByteValue},
    Row{0x4b, "TOOLS_PATCH_FUNC"},
    Row{0x4c, "NUM_BARRIERS", kByte, Views::kSame, Symbols::kNone, Travel::kMaximum, kInfoByteValue},
    Row{0x4d, "TEXMODE_INDEPENDENT", kMark},
    Row{0x4e, "PERF_STATISTICS"},
    Row{0x4f, "AT_ENTRY_FRAGMENTS", kWords, Views::kSame, Symbols::kNone, Travel::kMovedWords, kInfoSized},
    Row{0x50, "SPARSE_MMA_MASK", kHalf, Views::kSame, Symbols::kNone, Travel::kUnion, kInfoHalfValue},
    Row{0x51, "TCGEN05_1CTA_USED", kMark, Views::kUnknown, Symbols::kNone, Travel::kMark, kInfoNoValue},
    Row{0x52, "TCGEN05_2CTA_USED", kMark, Views::kUnknown, Symbols::kNone, Travel::kMark, kInfoNoValue},
    Row{0x53, "GEN_ERRBAR_AT_EXIT", kMark, Views::kSame},
    Row{0x54, "REG_RECONFIG", 0, Views::kUnknown, Symbols::kNone, Travel::kLastByte, kInfoNoValue},
    Row{0x55, "ANNOTATIONS", kWords, Views::kSameSize},
    Row{0x56, "UNKNOWN"},
    Row{0x57, "STACK_CANARY_TRAP_OFFSETS", kPlacesInCode},
    Row{0x58, "STUB_FUNCTION_KIND", kHalf, Views::kSame},
    Row{0x59, "LOCAL_CTA_ASYNC_STORE_OFFSETS"},
    Row{0x5a, "MERCURY_FINALIZER_OPTIONS", kWords, Views::kOne},
    Row{0x5b, "BLOCKS_ARE_CLUSTERS"},
    Row{0x5c, "SANITIZE", kHalf},
    Row{0x5d, "SYSCALLS_FALLBACK"},
    Row{0x5e, "CUDA_REQ"},
    Row{0x5f, "MERCURY_ISA_VERSION", kHalf, Views::kSame},
    Row{0x60, ""},
    Row{0x61, ""},
    Row{0x62, "", 0, Views::kUnknown, Symbols::kNone, Travel::kMark, kInfoNoValue},  // from 13.2 on
    Row{0x63, ""},
    Row{0x64, ""},
    Row{0x65, ""},
    Row{0x66, "LANGUAGE", kWords, Views::kSame, Symbols::kNone, Travel::kWords, kInfoSized},  // from 13.2 on
    Row{0x67, ""},
    Row{0x68, "", 0, Views::kUnknown, Symbols::kNone, Travel::kUnion, kInfoHalfValue},  // from 13.3 on
    Row{0x69, ""},
    Row{0x6a, ""},
    Row{0x6b, "", kHalf},  // from 13.3 on
    Row{0x6c, ""},
    Row{0x6d, "", kByte},  // from 13.3 on
};
// clang-format on

constexpr bool RowsStandByNumber() {
  for (std::size_t i = 0; i < kInfoRows.size(); ++i) {
    if (kInfoRows[i].id != i) return false;
  }
  return true;
}
static_assert(RowsStandByNumber());

constexpr bool TravellingOnesAreListed() {
  std::size_t count = 0;
  for (const Row& row : kInfoRows) count += row.travel != Travel::kStays ? 1 : 0;
  for (const std::uint8_t id : kTravellingAttributes) {
    if (kInfoRows[id].travel == Travel::kStays) return false;
  }
  return count == kTravellingAttributes.size();
}
static_assert(TravellingOnesAreListed());

constexpr Row kUnnamed = {};

// INDIRECT_BRANCH_TARGETS: for each branch its place, a word that is 0, how many places it may go
// to, and these.
bool AreWholeBranches(base::Bytes payload) {
  const base::BoundedReader words(payload);
  constexpr std::uint64_t kHead = 12;
  std::uint64_t at = 0;
  while (at < payload.size()) {
    std::uint32_t unused = 0;
    std::uint32_t targets = 0;
    if (!words.Read(at + 4, unused) || !words.Read(at + 8, targets) || unused != 0) return false;
    at += kHead + std::uint64_t{targets} * 4;
  }
  return at == payload.size();
}

// Places of instructions, from the first to the last.
bool ArePlaces(base::Bytes payload) {
  const base::BoundedReader words(payload);
  std::uint32_t before = 0;
  for (std::uint64_t at = 0; at < payload.size(); at += sizeof(before)) {
    std::uint32_t place = 0;
    if (!words.Read(at, place) || place % kInstructionSize != 0 || place < before) return false;
    before = place;
  }
  return true;
}

// Whether it is a number that hardware of any kind has.
bool IsPossible(const InfoRecord& record) {
  constexpr std::uint32_t kMaxRegisters = 255;
  constexpr std::uint32_t kMaxBarriers = 16;
  const auto of_function = base::BoundedReader(record.payload).ReadOrZero<std::uint32_t>(4);
  switch (record.id) {
    case kAttrRegCount:
      return of_function <= kMaxRegisters;
    case kAttrFrameSize:
    case kAttrMaxStackSize:
      return of_function % 4 == 0;  // ptxas compiles frames that no device has room for
    case kAttrMaxRegCount:
      return record.value <= kMaxRegisters;
    case kAttrNumBarriers:
      return record.value <= kMaxBarriers;
    default:
      return true;
  }
}

struct RecordHead {
  std::uint8_t format;
  std::uint8_t id;
  std::uint16_t value;
};
static_assert(sizeof(RecordHead) == 4);

}  // namespace

bool InfoReader::Next(InfoRecord& out) {
  if (offset_ == reader_.size()) return false;
  well_formed_ = false;
  RecordHead head;
  if (!reader_.Read(offset_, head)) return false;
  offset_ += sizeof(head);
  out.format = head.format;
  out.id = head.id;
  out.value = head.value;
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

bool HasFormOfKind(const InfoRecord& record) {
  if (record.id == kAttrError || !IsPossible(record)) return false;
  const std::uint8_t wanted = FindInfoAttribute(record.id).payload;
  switch (wanted) {
    case 0:
      return true;
    case kMark:
      return record.format == kInfoNoValue && record.value == 0;
    case kByte:
      return record.format == kInfoByteValue;
    case kHalf:
      return record.format == kInfoHalfValue;
    default:
      break;
  }
  if (record.format != kInfoSized) return false;
  if (record.id == kAttrIndirectBranchTargets) return AreWholeBranches(record.payload);
  if (wanted == kPlacesInCode) return ArePlaces(record.payload);
  return wanted == kWords ? record.payload.size() % 4 == 0 : record.payload.size() == wanted;
}

const InfoAttribute& FindInfoAttribute(std::uint8_t id) {
  return id < kInfoRows.size() ? kInfoRows[id] : kUnnamed;
}

KernelParameter ParameterOf(const InfoRecord& record) {
  const base::BoundedReader payload(record.payload);
  const auto place = payload.ReadOrZero<std::uint32_t>(4);
  const auto kind = payload.ReadOrZero<std::uint32_t>(8);
  return {.symbol = payload.ReadOrZero<std::uint32_t>(0),
          .ordinal = static_cast<std::uint16_t>(place),
          .offset = static_cast<std::uint16_t>(place >> 16),
          // The other bits say what it is; pointers are told apart.
          .size = record.id == kAttrKparamInfo ? kind >> 18 : kind & 0xffffff};
}

InfoSymbolRun SymbolsOf(const InfoRecord& record) {
  if (record.format != kInfoSized) return {};
  if (record.id == kAttrKparamInfo && ParameterOf(record).IsTexture()) {
    return {.kind = Symbols::kOne, .count = 1};
  }
  const InfoSymbols symbols = FindInfoAttribute(record.id).symbols;
  switch (symbols) {
    case Symbols::kOne:
    case Symbols::kSectionSymbol:
      return {.kind = symbols, .count = 1};
    case Symbols::kAll:
      return {.kind = symbols, .count = record.payload.size() / 4};
    case Symbols::kNone:
      break;
  }
  return {};
}

std::string_view InfoAttributeName(std::uint8_t id) { return FindInfoAttribute(id).name; }

}  // namespace devlink::format
