// SPDX-License-Identifier: Apache-2.0
//
// Pass 9: what becomes of each relocation. Those to shared and constant memory and to section
// symbols are resolved here and leave the file; those to functions and global variables stay for
// the loader, which alone knows their addresses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "link/constant_layout.h"
#include "link/liveness.h"
#include "link/shared_layout.h"
#include "link/texture_layout.h"

namespace devlink::internal {

// Bits to store into a section of the program.
struct FieldPatch {
  SectionId section = kNone;
  BitField field;
  std::uint64_t offset = 0;
  std::uint64_t value = 0;
};

// A relocation that is left to the loader; type and symbol may be others than in the input.
struct KeptRelocation {
  std::uint64_t offset = 0;
  std::int64_t addend = 0;
  SectionId list = kNone;
  std::uint32_t type = 0;
  SymbolId symbol = kNone;
  std::uint32_t instance =
      kNone;  // relocatable links: number of a PartialSharedLayout::instances instead
};

// A place in a bank of constants that an instruction of machine code names, and that the capsule of
// its function has, too.
struct ConstantUse {
  SectionId section = kNone;  // of code
  std::uint16_t value = 0;
  std::uint64_t offset = 0;
};

struct Relocated {
  std::vector<KeptRelocation> kept;  // in output order
  // Those of constants that the layout gave a kernel, which has no list for them yet: `list` is the
  // number of the bank in ConstantLayout::banks. Only the Mercury view has any.
  std::vector<KeptRelocation> kept_in_banks;
  std::vector<FieldPatch> patches;
  std::vector<ConstantUse> constant_uses;   // where they were asked for
  std::vector<std::uint32_t> kept_in_list;  // by SectionId of the relocation section
  // Relocatable links: references that were resolved though what they refer to may yet move.
  std::uint32_t early_shared = 0;
  std::uint32_t early_constants = 0;
  std::vector<Relocation> refused;  // that nothing sensible can be done with
  std::vector<Relocation> lost;  // of code that stays, and of variables, to functions that do not
  // Stored, but not all of the value: the field is too narrow. Of code and data only.
  struct Overflow {
    Relocation relocation;
    std::uint64_t value = 0;
  };
  std::vector<Overflow> overflows;
};

// Whether it is the symbol of a section that the output does not have.
bool IsOfLostSection(const Symbol& symbol, const Liveness& liveness,
                     const ConstantLayout& constants);

// `lists_constant_uses`: fill Relocated::constant_uses, for a program whose code has capsules.
Relocated Relocate(const Program& program, const Liveness& liveness, const SharedLayout& shared,
                   const ConstantLayout& constants, const TextureLayout& textures,
                   bool lists_constant_uses = false);

}  // namespace devlink::internal
