// SPDX-License-Identifier: Apache-2.0
//
// What both kinds of links need to know of a relocation, and how a value gets into its field.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash_table.h"
#include "format/relocations.h"
#include "link/liveness.h"
#include "link/relocate.h"
#include "model/program.h"

namespace devlink::internal {

// Whether nothing becomes of a relocation, neither a value nor an entry in the output's lists.
[[nodiscard]] bool IsDropped(const format::RelocationInfo& info, bool to_global, bool to_function);

// Mercury code is packed: what refers to a place in the unpacked code has no field in the file.
[[nodiscard]] bool HasField(const Program& program, const Relocation& relocation);

// Notes a value that an instruction's field was given, if it is one that capsules have as well.
void ListConstantUse(const Program& program, const Relocation& relocation, std::uint64_t value,
                     Relocated& out);

// Adds a relocation to those that the output keeps. An alias is written as what it stands for.
void KeepRelocation(const Program& program, const Relocation& relocation, std::uint32_t type,
                    std::uint32_t instance, Relocated& out);

// The lists of -preserve-relocs, which say what was resolved.
class ResolvedLists {
 public:
  // There are none where the merge made none. With two views nvlink lists what
  // code says of shared variables alone.
  ResolvedLists(const Program& program, bool two_views);

  // Puts it down, if the section has such a list.
  void Add(const Program& program, const Relocation& relocation, Relocated& out) const;

 private:
  base::HashMap<SectionId, SectionId> lists_;  // by the section that is relocated
  bool of_two_views_;
};

// Only the loader knows where it will be.
[[nodiscard]] bool IsGlobalMemory(const Program& program, const Symbol& symbol);

// What `.nv.ptx.const0.size` stands for: the size of `.nv.constant3`, all bits set without one.
[[nodiscard]] std::uint64_t ConstantSize(const Program& program);

// Stores the low bits of `bits` into one part of the field.
void StoreBits(const Relocation& relocation, const format::FieldPart& part, std::uint64_t bits,
               std::vector<FieldPatch>& patches);

// Stores a value, and for types that name a constant bank the bank. RELA replaces what the field
// holds, REL adds to it (docs/cubin-format.md, "Relocations"). False where a part of the value that
// the code cannot do without has no room; what has is stored, as by nvlink.
bool StoreValue(const Program& program, const Relocation& relocation,
                const format::RelocationInfo& info, std::uint64_t value, std::uint64_t bank,
                std::vector<FieldPatch>& patches);

// The bank that nvlink takes a symbol to be in, of whatever kind it is.
[[nodiscard]] std::uint64_t BankOf(const Program& program, const Symbol& symbol);

}  // namespace devlink::internal
