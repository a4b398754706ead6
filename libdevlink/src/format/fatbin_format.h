// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the fat binary format; see docs/fatbin.md for where each comes from.
#pragma once

#include <cstdint>

#include "format/magics.h"

namespace devlink::format {

constexpr std::uint32_t kFatbinMagic = MagicWord(kFatbinMagicText);
constexpr std::uint16_t kFatbinVersion = 1;
constexpr std::uint64_t kFatbinAlign = 8;

struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;  // of what follows the header
};
static_assert(sizeof(FatbinHeader) == 16);

struct FatbinMemberHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;      // with the texts behind this struct
  std::uint64_t size;             // of the payload, with its padding
  std::uint32_t compressed_size;  // without padding; 0: not compressed
  std::uint32_t extension;        // offset from the header of a FatbinExtension; 0: none
  std::uint16_t code_version_minor;
  std::uint16_t code_version_major;
  std::uint32_t arch;
  std::uint32_t ident_offset;  // from the header; 0: none
  std::uint32_t ident_length;
  std::uint64_t flags;
  std::uint64_t key;
  std::uint64_t uncompressed_size;  // 0: not compressed
};
static_assert(sizeof(FatbinMemberHeader) == 64);

struct FatbinExtension {
  std::uint32_t offset;  // from the member's header
  std::uint32_t length;
};
static_assert(sizeof(FatbinExtension) == 8);

constexpr std::uint16_t kFatbinMemberVersion = 0x0101;

constexpr std::uint16_t kFatbinPtx = 1;
constexpr std::uint16_t kFatbinElf = 2;
constexpr std::uint16_t kFatbinNvvm = 8;

constexpr std::uint64_t kFatbin64Bit = 0x1;
constexpr std::uint64_t kFatbinDebug = 0x2;
constexpr std::uint64_t kFatbinLinux = 0x10;
constexpr std::uint64_t kFatbinLz4 = 0x2000;
constexpr std::uint64_t kFatbinZstd = 0x8000;
// What nvlink tries, and fails, to decompress when it is set on plain code.
constexpr std::uint64_t kFatbinOtherCompressions = 0x1000 | 0x4000;
constexpr std::uint64_t kFatbinObfuscated = 0x10000;
constexpr std::uint64_t kFatbinArchSpecific = 0x100000;
constexpr std::uint64_t kFatbinFamilySpecific = 0x200000;
constexpr std::uint64_t kFatbinCompat = 0x1000000;

}  // namespace devlink::format
