// SPDX-License-Identifier: Apache-2.0
//
// What differs between architectures, and the limits that all of them have. devlink/arch.h is the
// public face of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/arch.h"

namespace devlink::format {

// CUDA 13.0, as cubins state their toolkit (10 * major + minor).
inline constexpr std::uint16_t kCuda13 = 130;

// One architecture; docs/cubin-format.md has the experiments under the headings named here.
struct SmTraits {
  std::uint16_t number = 0;
  std::string_view variants;  // letters besides the plain name; "Architectures"

  // Bytes in front of a kernel's shared memory that the system keeps; "Shared memory".
  std::uint32_t reserved_shared = 0;
  // Cubins have a `.nv.compat`; "Compatibility record".
  bool has_compat = false;
  // An input whose note names an earlier toolkit (10 * major + minor) is refused; "Architectures".
  std::uint16_t oldest_toolkit = 0;
  // A cubin holds its code as Mercury, too: a second symbol table and `.nv.merc.*` sections.
  bool has_mercury = false;
  // fatbinary copies the compatibility record of a cubin next to it; docs/fatbin.md.
  bool has_fatbin_record = false;
  // LTO IR is compiled by the later one of libNVVM's two compilers; docs/lto-ir.md.
  bool has_later_nvvm = false;
  // nvlink assembles `.ptx` inputs without -c; docs/inputs.md.
  bool ptx_files_are_whole = false;
  // Where a kernel's parameters begin in their bank, behind what the driver passes; "Section
  // order".
  std::uint32_t parameters_at = 0x160;
  // Machine code says its number of registers in sh_info, too; "Section order".
  bool has_registers_in_code = false;
  // The first toolkit (10 * major + minor) whose nvlink knows it; --help of 13.0 to 13.5.
  std::uint16_t first_release = kCuda13;
};

// The row of a number; for one that no 13.x toolkit knows, that of the nearest earlier one.
const SmTraits& TraitsOf(unsigned sm);
inline const SmTraits& TraitsOf(Arch arch) { return TraitsOf(arch.number); }

// Every architecture of the 13.x toolkits, by number.
std::span<const SmTraits> AllSmTraits();

// Where nvlink only looks at code (-arch=compute_NN), it has room for two digits of its target.
constexpr bool IsTooLongForCheck(unsigned sm) { return sm / 100 != 0; }

// The names of the targets that a release knows, variants included, by number.
std::vector<std::string> TargetNames(std::uint16_t release);

// Limits that nvlink checks; the same for all its targets so far.
inline constexpr std::uint64_t kMaxStaticShared =
    0xc000;  // bytes of a kernel, without the system's
inline constexpr std::uint64_t kMaxConstantBank = 0x10000;  // bytes of one bank
inline constexpr std::uint32_t kMaxRegisters = 0xff;        // of a thread; also "no limit given"

// Code for one number that goes with another number's.
enum class ArchRelation : std::uint8_t {
  kSassLinks,               // a cubin, plain or 'f'
  kSassLinksWithoutRecord,  // the same of one without compatibility record, of sm_100 and later
  kFamily,                  // what compute_NNf stands for besides its own number
};
// True where the pair is in the relation; equal numbers are the caller's matter.
bool Holds(ArchRelation relation, Arch member, Arch target);

// `90a`: what sm_90a, compute_90a and lto_90a have in common.
std::string NumberAndVariant(Arch arch);

}  // namespace devlink::format
