// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the cubin format. How each was found stands in docs/cubin-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/magics.h"

namespace devlink::format {

// ELF, as far as cubins use it. The structs are the on-disk layout; cubins are little-endian, and
// so are the hosts that libdevlink is built for.
struct Ehdr {
  std::uint8_t ident[16];
  std::uint16_t type;
  std::uint16_t machine;
  std::uint32_t version;
  std::uint64_t entry;
  std::uint64_t phoff;
  std::uint64_t shoff;
  std::uint32_t flags;
  std::uint16_t ehsize;
  std::uint16_t phentsize;
  std::uint16_t phnum;
  std::uint16_t shentsize;
  std::uint16_t shnum;
  std::uint16_t shstrndx;
};
static_assert(sizeof(Ehdr) == 64);

// `e_flags`: the index of `.note.nv.cuinfo`, which stops at what a byte can hold, the number of the
// architecture in 16 bits, and a low byte (ElfFlagsLowByte in format/views.h).
inline constexpr std::uint32_t kNoteBehindAll = 0xff;
constexpr std::uint32_t MakeElfFlags(std::uint32_t cuda_note, std::uint32_t sm, std::uint8_t low) {
  return (cuda_note < kNoteBehindAll ? cuda_note : kNoteBehindAll) << 24 | sm << 8 | low;
}
inline bool HasElfMagic(const Ehdr& header) {
  return std::memcmp(header.ident, kElfMagic.data(), kElfMagic.size()) == 0;
}
constexpr std::uint32_t CudaNoteOf(const Ehdr& header) { return header.flags >> 24; }

struct Shdr {
  std::uint32_t name;
  std::uint32_t type;
  std::uint64_t flags;
  std::uint64_t addr;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t addralign;
  std::uint64_t entsize;
};
static_assert(sizeof(Shdr) == 64);

struct Phdr {
  std::uint32_t type;
  std::uint32_t flags;
  std::uint64_t offset;
  std::uint64_t vaddr;
  std::uint64_t paddr;
  std::uint64_t filesz;
  std::uint64_t memsz;
  std::uint64_t align;
};
static_assert(sizeof(Phdr) == 56);

struct Sym {
  std::uint32_t name;
  std::uint8_t info;
  std::uint8_t other;
  std::uint16_t shndx;
  std::uint64_t value;
  std::uint64_t size;
};
static_assert(sizeof(Sym) == 24);

struct Rel {
  std::uint64_t offset;
  std::uint32_t type;
  std::uint32_t symbol;
};
struct Rela {  // the same with an addend
  std::uint64_t offset;
  std::uint32_t type;
  std::uint32_t symbol;
  std::int64_t addend;
};
static_assert(sizeof(Rela) == 24);
inline constexpr std::uint64_t kRelSize = sizeof(Rel);
static_assert(kRelSize == 16);
constexpr std::uint64_t SizeOfRelocation(bool has_addend) {
  return has_addend ? sizeof(Rela) : kRelSize;
}

inline constexpr std::uint8_t kOsAbiCuda = 0x41;
inline constexpr std::uint8_t kAbiVersion = 8;
inline constexpr std::uint16_t kMachineCuda = 190;
inline constexpr std::uint16_t kTypeRel = 1;
inline constexpr std::uint16_t kTypeExec = 2;
// An extensible whole program (nvcc -ewp): a kernel is laid out with all that it calls, but for
// what the device runtime defines.
inline constexpr std::uint16_t kTypeEwp = 0xff00;
inline constexpr std::uint16_t kTypeDyn = 3;  // host files only

// Bytes of `Ehdr::ident`.
inline constexpr std::size_t kIdentClass = 4;
inline constexpr std::size_t kIdentData = 5;
inline constexpr std::size_t kIdentOsAbi = 7;
inline constexpr std::size_t kIdentAbiVersion = 8;
inline constexpr std::uint8_t kClass32 = 1;  // host files only
inline constexpr std::uint8_t kClass64 = 2;
inline constexpr std::uint8_t kDataLittle = 1;  // as all cubins are
inline constexpr std::uint8_t kDataBig = 2;

// The ABI of toolkits before 13.0 (docs/cubin-format.md, "Cubins of older toolkits"): the number of
// the architecture is the low byte of `e_flags`, that of the virtual one the third, and the
// toolkit's is `e_version`. Between the two numbers stand the flags that LLVM's ELF.h names
// EF_CUDA_*, with the values 0x100 to 0x1000.
inline constexpr std::uint32_t kOldFlagsKnown = 0x00ff'1fff;
constexpr bool HasOldAbi(const Ehdr& header) {
  constexpr std::uint8_t kOldOsAbi = 0x33;
  constexpr std::uint8_t kOldAbiVersion = 7;
  return header.ident[kIdentOsAbi] == kOldOsAbi && header.ident[kIdentAbiVersion] == kOldAbiVersion;
}
// Only cubins of another ABI than today's say so by a flag, EF_CUDA_64BIT_ADDRESS.
constexpr bool Has64BitAddresses(const Ehdr& header) {
  constexpr std::uint32_t kOldFlag64BitAddress = 1U << 10;
  return header.ident[kIdentOsAbi] == kOsAbiCuda || (header.flags & kOldFlag64BitAddress) != 0;
}
constexpr std::uint16_t OldVirtualArchOf(const Ehdr& header) { return header.flags >> 16 & 0xff; }
constexpr std::uint32_t SmOf(const Ehdr& header) {
  return HasOldAbi(header) ? header.flags & 0xff : header.flags >> 8 & 0xffff;
}

// Section types.
inline constexpr std::uint32_t kShtNull = 0;
inline constexpr std::uint32_t kShtProgbits = 1;
inline constexpr std::uint32_t kShtSymtab = 2;
inline constexpr std::uint32_t kShtStrtab = 3;
inline constexpr std::uint32_t kShtRela = 4;
inline constexpr std::uint32_t kShtNote = 7;
inline constexpr std::uint32_t kShtNobits = 8;
inline constexpr std::uint32_t kShtRel = 9;
inline constexpr std::uint32_t kShtSymtabShndx = 18;
inline constexpr std::uint32_t kShtCudaInfo = 0x70000000;
inline constexpr std::uint32_t kShtCudaCallGraph = 0x70000001;
inline constexpr std::uint32_t kShtCudaPrototype = 0x70000002;
inline constexpr std::uint32_t kShtCudaResolvedRela = 0x70000003;
inline constexpr std::uint32_t kShtCudaGlobal = 0x70000007;
inline constexpr std::uint32_t kShtCudaGlobalInit = 0x70000008;
inline constexpr std::uint32_t kShtCudaLocal = 0x70000009;
inline constexpr std::uint32_t kShtCudaShared = 0x7000000a;
inline constexpr std::uint32_t kShtCudaRelocInfo = 0x7000000b;
inline constexpr std::uint32_t kShtCudaReservedShared = 0x70000015;  // sm_110
inline constexpr std::uint32_t kShtCudaConstant0 = 0x70000064;       // bank N is this plus N
inline constexpr std::uint32_t kShtCudaConstantEnd = 0x70000082;
inline constexpr std::uint32_t kShtCudaCompat = 0x70000086;
inline constexpr std::uint32_t kShtCudaHost = 0x70000087;

// Tables of unified functions and data (`.attribute(.unified)` in PTX).
constexpr bool IsUnifiedType(std::uint32_t type) {
  return type == 0x7000000e || type == 0x70000011 || type == 0x70000012 || type == 0x70000014;
}
constexpr bool IsConstantType(std::uint32_t type) {
  return type >= kShtCudaConstant0 && type < kShtCudaConstantEnd;
}
constexpr bool IsNobitsType(std::uint32_t type) {
  return type == kShtNobits || type == kShtCudaGlobal || type == kShtCudaLocal ||
         type == kShtCudaShared || type == kShtCudaReservedShared;
}

// Section flags.
// The strictest alignment that is taken from a file, which is padded to it. ptxas takes any, 2 MiB
// for example, a page of a GPU.
inline constexpr std::uint64_t kMaxAlign = std::uint64_t{16} << 20;

inline constexpr std::uint64_t kShfWrite = 1;
inline constexpr std::uint64_t kShfAlloc = 2;
inline constexpr std::uint64_t kShfExec = 4;
inline constexpr std::uint64_t kShfInfoLink = 0x40;
// Whether it is loaded, and as what.
inline constexpr std::uint64_t kShfLoading = kShfWrite | kShfAlloc | kShfExec;
// What no section of a relocatable cubin has, of any kind (the corpus of docs/cubin-format.md,
// "Section order"). Barriers of code are counted from bit 20 on.
inline constexpr std::uint64_t kShfNever = 0xe00fffb8;
inline constexpr std::uint64_t kKernelSharedFlags = 0x43;  // of `.nv.shared.E`
inline constexpr std::uint64_t kShfTkInfo = 0x2000000;
inline constexpr std::uint64_t kShfCuInfo = 0x1000000;
// sh_info of machine code: the symbol of its function, and its number of registers in the upper
// byte.
constexpr std::uint32_t FunctionOfCode(std::uint32_t info) { return info & 0xffffff; }
constexpr std::uint8_t RegistersOfCode(std::uint32_t info) {
  return static_cast<std::uint8_t>(info >> 24);
}
// Of code in cubins with the old ABI: the number of its barriers. 0 elsewhere.
inline constexpr std::uint64_t kShfBarriers = 0x1f00000;
constexpr std::uint16_t BarriersOfCode(std::uint64_t section_flags) {
  return static_cast<std::uint16_t>((section_flags & kShfBarriers) >> 20);
}

// A section's flags, with the one that says that its sh_info names another section: cubins of the
// old ABI, and what nvlink -r makes of them, do not flag such sections (CUDA 11.7 to 12.2).
constexpr std::uint32_t FlagsOf(const Shdr& section) {
  const bool names_section = section.type == kShtCudaInfo || section.type == kShtCudaShared ||
                             section.type == kShtRel || section.type == kShtRela ||
                             IsConstantType(section.type);
  const std::uint64_t more = names_section && section.info != 0 ? kShfInfoLink : 0;
  return static_cast<std::uint32_t>(section.flags | more);
}

// Symbols.
inline constexpr std::uint32_t kShnUndef = 0;
inline constexpr std::uint32_t kShnLoReserve = 0xff00;  // from here on 16 bits are not an index
inline constexpr std::uint32_t kShnXindex = 0xffff;     // the index stands in `.symtab_shndx`

// How many sections a file has, and which of them has their names. What is too large for the header
// of the file stands in that of the first section.
constexpr std::uint64_t SectionCountOf(const Ehdr& header, const Shdr& first) {
  return header.shnum != 0 ? header.shnum : first.size;
}
constexpr std::uint32_t SectionNamesOf(const Ehdr& header, const Shdr& first) {
  return header.shstrndx != kShnXindex ? header.shstrndx : first.link;
}
// Reserved numbers as InputSymbol has them, out of the way of real indices.
inline constexpr std::uint32_t kReservedSection = 0xffff0000;
inline constexpr std::uint32_t kShnAbs = kReservedSection | 0xfff1;
inline constexpr std::uint32_t kShnCommon = kReservedSection | 0xfff2;
inline constexpr std::uint8_t kStbLocal = 0;
inline constexpr std::uint8_t kStbGlobal = 1;
inline constexpr std::uint8_t kStbWeak = 2;
inline constexpr std::uint8_t kSttObject = 1;
inline constexpr std::uint8_t kSttFunc = 2;
inline constexpr std::uint8_t kSttSection = 3;
inline constexpr std::uint8_t kSttCudaTexture = 10;
inline constexpr std::uint8_t kSttCudaSampler = 11;
inline constexpr std::uint8_t kSttCudaSurface = 12;
inline constexpr std::uint8_t kSttCudaObject = 13;

// A place in the symbol table that nothing uses. ptxas has such for sm_90.
inline constexpr std::uint8_t kSttNone = 0;

// References that are bound by name; always undefined.
constexpr bool IsTextureType(std::uint8_t type) {
  return type >= kSttCudaTexture && type <= kSttCudaSurface;
}

// Symbols that code may refer to.
constexpr bool IsKnownSymbolType(std::uint8_t type) {
  return type == kSttObject || type == kSttFunc || type == kSttSection || type == kSttCudaObject ||
         IsTextureType(type);
}

inline constexpr std::uint8_t kStoInternal = 0x01;
inline constexpr std::uint8_t kStoManaged = 0x04;
inline constexpr std::uint8_t kStoEntry = 0x10;
inline constexpr std::uint8_t kStoGlobal = 0x20;
inline constexpr std::uint8_t kStoShared = 0x40;
inline constexpr std::uint8_t kStoConstant = 0x80;
inline constexpr std::uint8_t kStoReservedShared = 0xa0;  // sm_110, of `.nv.shared.reserved.0`
inline constexpr std::uint8_t kStoSpaceMask = 0xe0;

// Whether st_other says of a symbol what some cubin says of one of its type: a function may be
// unified, which variables call managed.
constexpr bool IsKnownOther(std::uint8_t type, std::uint8_t other) {
  const std::uint8_t space = other & kStoSpaceMask;
  switch (type) {
    case kSttNone:
      return (other & ~kStoInternal) == 0;
    case kSttFunc:
      return (other & ~(kStoManaged | kStoEntry)) == 0;
    case kSttObject:
    case kSttCudaObject:
      return (other & ~(kStoInternal | kStoManaged | kStoSpaceMask)) == 0 &&
             (space == 0 || space == kStoGlobal || space == kStoShared || space == kStoConstant ||
              space == kStoReservedShared);
    default:
      return other == 0;
  }
}

// Program headers.
inline constexpr std::uint32_t kPtLoad = 1;
inline constexpr std::uint32_t kPtPhdr = 6;
inline constexpr std::uint32_t kPfR = 4;
inline constexpr std::uint32_t kPfRX = 5;
inline constexpr std::uint32_t kPfRW = 6;

// Notes. Both carry the vendor name "NVIDIA Corp".
inline constexpr std::uint32_t kNoteToolInfo = 0x7d0;
inline constexpr std::uint32_t kNoteCudaInfo = 0x3e8;

}  // namespace devlink::format
