// SPDX-License-Identifier: Apache-2.0
//
// The programs that one cubin can hold. Up to sm_90a there is one, of machine code (SASS). From
// sm_100 on there are two over the same file, with a symbol table each: machine code, and Mercury,
// from which code for a related device can be made. docs/mercury.md says how this was found.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/strings.h"
#include "format/sections.h"
#include "format/sm_traits.h"

namespace devlink::format {

enum class ViewKind : std::uint8_t { kSass, kMercury };

// Whether cubins of an architecture hold both.
inline bool HasTwoViews(std::uint32_t sm) { return TraitsOf(sm).has_mercury; }

// The low byte of `e_flags`.
inline constexpr std::uint8_t kElfFlagTwoViews = 2;
// CUDA 12.8 and 12.9: compiled for a variant, sm_100a. Later ones say it in `.nv.compat`.
inline constexpr std::uint8_t kElfFlagOfVariant = 8;
inline std::uint8_t ElfFlagsLowByte(std::uint32_t sm) {
  return HasTwoViews(sm) ? kElfFlagTwoViews : 4;
}

// A section header in words that do not depend on the view: the name, type and flags that the
// section has, or would have, in machine code. `.nv.capmerc.text.F` is `.text.F`.
struct SectionWords {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
};

// Nothing where the section belongs to the other view. Kernels' shared memory, zeroed variables,
// notes, the call graph and string tables belong to both. Of a cubin that holds both views.
std::optional<SectionWords> SectionInView(ViewKind view, const SectionWords& in_file);

// What is put before the name of a section of the Mercury view's own in a file, by what the section
// is for, and the type that it has there. Nothing where the section belongs to both views. `bank`
// tells banks of constants apart.
struct MercuryWords {
  std::string_view prefix;
  std::uint32_t type = 0;
};
std::optional<MercuryWords> MercuryWordsOf(SectionRole role, std::uint32_t bank = kVariableBank);

// sh_flags of the Mercury view's own sections, beside those of their counterparts.
inline constexpr std::uint32_t kShfMercury = 0x10000000;
inline constexpr std::uint32_t kShtMercuryCode = 0x70000016;
inline constexpr std::uint32_t kShtMercuryRela = 0x70000082;
inline constexpr std::uint32_t kShtMercuryInfo = 0x70000083;
inline constexpr std::uint32_t kShtMercurySymbols = 0x70000085;
inline constexpr std::uint32_t kShtMercuryResolvedRela = 0x70000088;  // nvlink -preserve-relocs

// The name that a section of the Mercury view has as one of machine code: `.nv.constant.user` is
// `.nv.constant3`. Most have the same in both. `kept` keeps a name that has to be made.
std::string_view NameInMachineCode(std::string_view name, base::StringArena& kept);

// What nvlink's -r leaves of it where so many sections have the name. It overwrites it once for
// each, and takes what stands behind the kind of section from where that stood before the first
// time (found with names of 2 to 20 letters in one to four files).
std::string_view NameOverwritten(std::string_view name, std::uint32_t times,
                                 base::StringArena& kept);
// Whether that may have become of the name of the function's constants.
bool IsOverwritten(std::string_view name, std::string_view function);

// Bytes that nvlink and ptxas leave unused behind the table of section names.
inline constexpr std::uint64_t kRoomBehindSectionNames = 36;

// Whether the Mercury view's debug section of this name has no bytes of its own: it shows those of
// machine code's.
bool SharesBytesOfMachineCode(std::string_view debug_section);

// A symbol table's, of whichever view, as the file has it.
constexpr bool IsSymbolTable(std::uint32_t type) {
  return type == kShtSymtab || type == kShtMercurySymbols;
}

// Whether the section is the Mercury view's own.
bool IsMercurySection(std::uint64_t flags);
// Whether its name says so. The two agree in every file of the toolkit.
bool HasMercuryName(std::string_view name);

// Whether a section of an ELF file with this sh_type and sh_flags has bytes there. The Mercury
// view's copy of the memory that sm_110 reserves has some, though its counterpart has none. A
// section without a type has none, whatever its size says: that of the first may be their number.
inline bool HasBytes(std::uint32_t type, std::uint64_t flags) {
  if (type == kShtNull) return false;
  return !IsNobitsType(type) || (type == kShtCudaReservedShared && IsMercurySection(flags));
}

// What the compiler's own constants of a function F are called, without the F.
constexpr std::string_view CompilerConstantsPrefix(ViewKind view) {
  return view == ViewKind::kMercury ? section_name::kOptimizerConstants
                                    : section_name::kCompilerConstants;
}

// Of capsules; the Mercury view's other sections stand behind them as in machine code.
inline constexpr int kCapsuleCategory = 11;

// Where a section stands (SectionCategory) in an executable with two views: parameters stand behind
// everything else, and behind them the Mercury view's own sections.
int SectionCategoryOfTwoViews(std::string_view name, std::uint32_t type, std::uint32_t flags);

}  // namespace devlink::format
