// SPDX-License-Identifier: Apache-2.0
//
// R_CUDA and R_MERCURY relocations: one table of names, what becomes of them in a link, and fields.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "format/elf_cuda.h"

namespace devlink::format {

inline constexpr std::uint32_t kRelocAbs32 = 0x01;
inline constexpr std::uint32_t kRelocAbs64 = 0x02;
inline constexpr std::uint32_t kRelocTextureHeader = 0x06;
inline constexpr std::uint32_t kRelocSamplerHeader = 0x07;
inline constexpr std::uint32_t kRelocSurfaceHeader = 0x34;

// The type that tells the driver where a reference of a symbol type wants its handle
// (docs/cubin-format.md, "Textures").
constexpr std::uint32_t SlotRelocation(std::uint8_t symbol_type) {
  if (symbol_type == kSttCudaTexture) return kRelocTextureHeader;
  return symbol_type == kSttCudaSampler ? kRelocSamplerHeader : kRelocSurfaceHeader;
}

// The whole entries of a list; 0 as the addend where they have none.
std::vector<Rela> ReadRelocations(base::Bytes list, bool has_addend);
// The list of these entries.
std::vector<std::uint8_t> WriteRelocations(std::span<const Rela> entries, bool has_addend);

// The types of the Mercury view begin here.
inline constexpr std::uint32_t kMercuryRelocations = 0x10000;
inline constexpr std::uint32_t kRelocMercuryProgram32 = 0x10008;  // entries of jump tables
// Pointers to parts of a kernel's code in what the compiler made constants of (kTypeEwp).
inline constexpr std::uint32_t kRelocMercuryProgram64 = 0x10007;
constexpr bool IsMercuryRelocation(std::uint32_t type) { return type >= kMercuryRelocations; }

// What becomes of a relocation whose symbol the link can place (shared memory, constants, section
// symbols). One to a function or to a global variable stays for the loader, whatever its type.
enum class RelocationAction : std::uint8_t {
  kApply,               // the value goes into the field
  kKeep,                // stays for the loader all the same
  kDrop,                // goes, also where the symbol is a function
  kDropUnlessFunction,  // goes, but stays where the symbol is a function
  kClear,               // zeroes the field where the symbol is left out of the output
  kRefuse,              // nvlink ends with an internal error or crashes
};

// One run of bits of a field: `width` bits at bit `position` from the relocated offset, which take
// the bits from `low_bit` on of the value, or of the constant bank's number.
struct FieldPart {
  std::uint8_t position = 0;
  std::uint8_t width = 0;
  std::uint8_t low_bit = 0;
  bool of_bank = false;
};

struct RelocationInfo {
  std::uint32_t type = 0;
  std::string_view name;  // without the prefix R_CUDA_ or R_MERCURY_
  RelocationAction action = RelocationAction::kRefuse;
  std::uint32_t becomes = 0;  // the type under which a kept one is written; 0: its own
  std::array<FieldPart, 3> parts = {};
  std::uint8_t bytes = 0;  // from the relocated offset that the field touches
};

// Whether nothing is left of it in an output whose symbol stays.
constexpr bool AsksForNothing(const RelocationInfo& info) {
  return info.action == RelocationAction::kDrop || info.action == RelocationAction::kClear;
}

// From the relocated offset what has to be there: of some types the field is no more than a place.
constexpr std::uint64_t BytesOfField(const RelocationInfo& info) {
  return info.bytes == 0 ? 1 : info.bytes;
}

// Null for types that no 13.x toolkit knows.
const RelocationInfo* FindRelocation(std::uint32_t type);

// Whether references of machine code and of Mercury code to one symbol stand for one another, by
// their types; `own`: to the code itself. True where nothing is known of either type.
bool AreCounterpartsInCode(std::uint32_t sass, std::uint32_t mercury, bool own);
// The same of pointers in variables and constants.
bool AreCounterpartsInData(std::uint32_t sass, std::uint32_t mercury);

// What a relocated field is part of.
enum class FieldPlace : std::uint8_t { kCode, kData, kDebug };
// Whether relocations of the type, which FindRelocation knows, are ever of such a field.
bool CanBeIn(std::uint32_t type, FieldPlace place);

// Whether relocations of the type are ever of such an instruction, by its first word: those of
// numbers are of none without one, those of calls of none that goes nowhere. True where nothing is
// known of the type.
bool CanBeOfInstruction(std::uint32_t type, std::uint32_t instruction);

// What a reference of machine code to a function is for, by its type.
enum class FunctionUse : std::uint8_t { kUnknown, kCall, kAddress };
FunctionUse FunctionUseOf(std::uint32_t type);

}  // namespace devlink::format
