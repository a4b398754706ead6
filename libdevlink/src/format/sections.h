// SPDX-License-Identifier: Apache-2.0
//
// The sections of a cubin: their names, what each is for, and where it stands in a file. Sections
// of the Mercury view come here in the words of their counterparts (format/views.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "format/elf_cuda.h"
#include "format/notes.h"

namespace devlink::format {

// Names, and what names of sections that belong to something begin with.
namespace section_name {
inline constexpr std::string_view kNames = ".shstrtab";
inline constexpr std::string_view kStrings = ".strtab";
inline constexpr std::string_view kSymbols = ".symtab";
inline constexpr std::string_view kWideIndices = ".symtab_shndx";
inline constexpr std::string_view kDebug = ".debug";  // these two: prefixes
inline constexpr std::string_view kNvDebug = ".nv_debug_";
inline constexpr std::string_view kDebugFrame = ".debug_frame";
inline constexpr std::string_view kDebugLine = ".debug_line";
inline constexpr std::string_view kSassLine = ".nv_debug_line_sass";
inline constexpr std::string_view kDebugStrings = ".debug_str";
inline constexpr std::string_view kPtxText = ".nv_debug_ptx_txt";  // and, as a rule, a number
inline constexpr std::string_view kSassRegisters = ".nv_debug_info_reg_sass";
inline constexpr std::string_view kRegisterTypes = ".nv_debug_info_reg_type";
inline constexpr std::string_view kToolNote = kToolNoteName;
inline constexpr std::string_view kCudaNote = kCudaNoteName;
inline constexpr std::string_view kOldCudaNote = kOldCudaNoteName;
inline constexpr std::string_view kModuleInfo = ".nv.info";
inline constexpr std::string_view kFunctionInfo = ".nv.info.";  // and the function's name
inline constexpr std::string_view kCompat = ".nv.compat";
inline constexpr std::string_view kHost = ".nv.host";
inline constexpr std::string_view kCallGraph = ".nv.callgraph";
inline constexpr std::string_view kPrototypes = ".nv.prototype";
inline constexpr std::string_view kRelocationActions = ".nv.rel.action";
inline constexpr std::string_view kRel = ".rel";  // these two: and the relocated section's name
inline constexpr std::string_view kRela = ".rela";
inline constexpr std::string_view kResolvedRela = ".nv.resolvedrela";
inline constexpr std::string_view kConstants = ".nv.constant";  // and the bank's number
inline constexpr std::string_view kParameters = ".nv.constant0";
inline constexpr std::string_view kText = ".text";
inline constexpr std::string_view kNv = ".nv.";  // what most others begin with
inline constexpr std::string_view kGlobalInit = ".nv.global.init";
inline constexpr std::string_view kGlobal = ".nv.global";
inline constexpr std::string_view kKernelShared = ".nv.shared.";  // and the kernel's name
inline constexpr std::string_view kModuleShared = ".nv_debug.shared";
inline constexpr std::string_view kReservedShared = ".nv.shared.reserved.";  // of sm_110; a number
// The Mercury view's, in its words and with its prefix (format/views.h).
inline constexpr std::string_view kMercuryPrefix = ".nv.merc";
inline constexpr std::string_view kCapsules = ".nv.capmerc";  // these alone lack that prefix
inline constexpr std::string_view kMercurySymbols = ".nv.merc.symtab";
inline constexpr std::string_view kUserConstants = ".nv.constant.user";
inline constexpr std::string_view kPointerTable = ".nv.constant.pic";
inline constexpr std::string_view kOptimizerConstants = ".nv.constant.optimizer.";
inline constexpr std::string_view kImageConstants = ".nv.constant.entry_image_header_indices.";
inline constexpr std::string_view kMercuryConstantRela = ".rela.nv.constant.";
// What stands for the first three in machine code.
inline constexpr std::string_view kVariableConstants = ".nv.constant3";
inline constexpr std::string_view kPointerConstants = ".nv.constant4";
inline constexpr std::string_view kCompilerConstants = ".nv.constant2.";
}  // namespace section_name

// Symbols of what the system keeps of shared memory, which no input defines. From sm_100 on inputs
// say where it lies.
constexpr bool IsReservedSharedSymbol(std::string_view symbol) {
  return symbol.starts_with(".nv.reservedSmem.");
}

// What an extensible whole program has for the place of the first of them: a number, and no
// variable.
inline constexpr std::string_view kReservedSharedAlias = "__nv_reservedSMEM_offset_0_alias";

// What code that allocates tensor memory has there: of CUDA 12.x, and from 13.0 on. The two do not
// see each other's allocations.
inline constexpr std::string_view kOldTensorMemory = "__nv_reservedSMEM_allocation_mask";
inline constexpr std::string_view kTensorMemory = "__nv_reservedSMEM_tcgen05_partition";

// The one whose place is where it ends (SmTraits::reserved_shared).
inline constexpr std::string_view kReservedSharedEnd = ".nv.reservedSmem.cap";
// The place of all others, and where `.nv.shared.reserved.0` of an executable begins.
inline constexpr std::uint64_t kReservedSharedPlace = 0x40;

// Within the name of a constant that the compiler made: the function's stands before it, where it
// begins and ends behind it.
inline constexpr std::string_view kOptimizerMark = ".const_opt.";

// In `.nv.constant4`, the address of the symbol whose name follows (ptxas -pic).
inline constexpr std::string_view kAddressOf = "$ADDRESS$";

// Banks of constants that the link knows by number.
inline constexpr std::uint32_t kParameterBank = 0;  // one per kernel
inline constexpr std::uint32_t kCompilerBank = 2;   // constants that the compiler made
inline constexpr std::uint32_t kVariableBank = 3;   // `__constant__` variables
inline constexpr std::uint32_t kPointerBank = 4;    // addresses that position-independent code uses
constexpr std::uint32_t BankOfType(std::uint32_t type) { return type - kShtCudaConstant0; }
// Of `.nv.constantN` and `.nv.constantN.F`; nothing where it is another name, or has a word in
// place of the number, as the Mercury view's.
std::optional<std::uint32_t> BankOfName(std::string_view name);

// `extern __shared__ x[]` begins at a multiple of it, and asks for as much of what holds it
// (docs/cubin-format.md, "Shared memory").
inline constexpr std::uint32_t kExternalSharedAlign = 16;

// What a section is for, in an input and in an output.
enum class SectionRole : std::uint8_t {
  kTable,              // null section, string and symbol tables
  kDebug,              // bytes that are never loaded, most of them `.debug_*` and `.nv_debug_*`
  kToolNote,           // `.note.nv.tkinfo`
  kCudaNote,           // `.note.nv.cuinfo`
  kModuleInfo,         // `.nv.info`
  kFunctionInfo,       // `.nv.info.F`
  kCompat,             // `.nv.compat`
  kCallGraph,          // `.nv.callgraph`
  kPrototype,          // `.nv.prototype`
  kRelAction,          // `.nv.rel.action`; of outputs only
  kRelocations,        // `.rel.X`, `.rela.X`
  kConstantBank,       // `.nv.constant3`
  kFunctionConstants,  // `.nv.constantN.F`
  kText,               // `.text.F`
  kGlobalInit,         // `.nv.global.init`
  kGlobal,             // `.nv.global`
  kKernelShared,       // `.nv.shared.F`
  kModuleShared,       // `.nv_debug.shared`
  kReservedShared,     // `.nv.shared.reserved.0`
  kOtherView,          // of a file with two views: not of this one
};

// The role of an input's section. InvalidArgument with a reason for what a relocatable cubin does
// not have; Unimplemented for what this release does not link.
absl::StatusOr<SectionRole> RoleOf(std::string_view name, std::uint32_t type, std::uint64_t flags,
                                   std::uint32_t info);

// Variables can lie in it.
constexpr bool HoldsVariables(SectionRole role) {
  switch (role) {
    case SectionRole::kConstantBank:
    case SectionRole::kFunctionConstants:
    case SectionRole::kGlobalInit:
    case SectionRole::kGlobal:
    case SectionRole::kKernelShared:
    case SectionRole::kModuleShared:
    case SectionRole::kReservedShared:
      return true;
    default:
      return false;
  }
}

constexpr bool IsLineTable(std::string_view name) {
  return name == section_name::kDebugLine || name == section_name::kSassLine;
}

// Debug sections whose relocations go with the body of a function that they describe; those of all
// others stay, and name the body that is there (docs/cubin-format.md, "Weak and strong copies").
constexpr bool GoesWithBody(std::string_view name) {
  return IsLineTable(name) || name == section_name::kDebugFrame;
}

// What a debugger finds a variable by that is in a register.
constexpr bool IsAboutRegisters(std::string_view name) {
  return name == section_name::kSassRegisters || name == section_name::kRegisterTypes;
}

// Debug sections of code that was compiled without -g, with or without -lineinfo: none but the
// lines and the frames say where something lies in code.
constexpr bool ComesWithoutDebug(std::string_view name) {
  return GoesWithBody(name) || name == section_name::kDebugStrings ||
         name.starts_with(section_name::kPtxText);
}

// Whether code or relocations have such a name: with a dot and whose they are, `.rela.text.F`. PTX
// may name debug sections `.relax` and `.text`.
constexpr bool IsNameOfCode(std::string_view name) {
  return name.starts_with(section_name::kText) &&
         name.substr(section_name::kText.size()).starts_with('.');
}
// The function's name in that of its code.
constexpr std::string_view FunctionInNameOfCode(std::string_view name) {
  return name.substr(section_name::kText.size() + 1);
}
constexpr bool IsNameOfRelocations(std::string_view name) {
  for (const std::string_view list : {section_name::kRela, section_name::kRel}) {
    if (name.starts_with(list)) return name.substr(list.size()).starts_with('.');
  }
  return false;
}

// The merge takes code and data before records about them.
constexpr bool IsContent(SectionRole role) {
  return role == SectionRole::kDebug || role == SectionRole::kText || HoldsVariables(role);
}

// Where a section of an output stands: files are sorted by it (docs/cubin-format.md, "Section
// order"). There most data sections are plain PROGBITS, and names tell; one that is not loaded is
// for the debugger whatever it is called.
int SectionCategory(std::string_view name, std::uint32_t type, std::uint64_t flags);

}  // namespace devlink::format
