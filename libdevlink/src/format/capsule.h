// SPDX-License-Identifier: Apache-2.0
//
// Mercury code as a cubin has it: packed in a capsule (`.nv.capmerc.text.F`). docs/mercury.md,
// "Capsules", says how the form was found.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/bounded_reader.h"

namespace devlink::format {

// The first word of a capsule is the number of the section with the function's machine code.
inline constexpr std::uint32_t kCapsuleSectionWord = 4;
inline std::uint32_t MachineCodeOf(base::Bytes capsule) {
  return base::BoundedReader(capsule).ReadOrZero<std::uint32_t>(0);
}

// An instruction of machine code has so many bytes.
inline constexpr std::uint32_t kInstructionSize = 16;

// Relocations of machine code whose value, a place in a bank of constants, the capsule has as well.
// Found by linking code with each kind of use of constants (docs/mercury.md, "Capsules").
constexpr bool IsInCapsule(std::uint32_t relocation_type) {
  constexpr std::uint32_t kAbs16At32 = 0x3b;
  constexpr std::uint32_t kField19At40 = 0x40;
  constexpr std::uint32_t kField21At38 = 0x42;
  constexpr std::uint32_t kField22At37 = 0x73;
  return relocation_type == kAbs16At32 || relocation_type == kField19At40 ||
         relocation_type == kField21At38 || relocation_type == kField22At37;
}

// Where the capsule has the 16-bit places in constants of these instructions of machine code, which
// are numbered in their order and given in ascending order: as many offsets, 0 for an instruction
// whose record has none. InvalidArgument where the capsule's records do not add up.
absl::Status FindCapsuleConstants(base::Bytes capsule, std::span<const std::uint32_t> instructions,
                                  std::vector<std::uint32_t>& offsets);

// The first release whose capsules are of the form that CheckCapsule knows: those of 12.8 are
// others. Found by random programs of both that nvlink 13.0 links.
inline constexpr std::uint16_t kCapsuleFormSince = 129;

// Whether a capsule is of the form of 12.8, as its header says: bit 30 of the second word without
// bit 31 (1,900 capsules of 12.8; 275,000 of later releases have both).
bool IsCapsuleOfFirstForm(base::Bytes capsule);

// Whether the records stand for so many instructions of machine code and end with the capsule.
// InvalidArgument where they do not. `later`: of an assembler later than 13.0, so that a record of
// a form that is not known is no damage.
absl::Status CheckCapsule(base::Bytes capsule, std::uint64_t instructions, bool later);

}  // namespace devlink::format
