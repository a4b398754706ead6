// SPDX-License-Identifier: Apache-2.0
//
// The merged program: what all inputs together are, before anything is laid out or left out. The
// merge makes it; every later pass reads it and returns a value of its own.
//
// Order is meaning here, too. Sections, symbols and functions stand in the order in which nvlink
// comes to create them ("creation order", docs/cubin-format.md); names, indices and layouts follow
// from it. Names and bytes are borrowed from the modules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/bounded_reader.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "devlink/module.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

using SectionId = std::uint32_t;
using SymbolId = std::uint32_t;
using FunctionId = std::uint32_t;
using InputId = std::uint32_t;  // position in the link order
inline constexpr std::uint32_t kNone = 0xffffffff;

// One input of the link: a module and what the user calls it.
struct LinkInput {
  std::string name;
  ModuleRef module;
};

using SectionKind = format::SectionRole;  // kTable and kOtherView do not occur

// Bytes of an input at their place in an output section; zeroes fill what lies between.
struct Piece {
  base::Bytes bytes;
  std::uint64_t offset = 0;
};

// There are tens of thousands in a large link; hence the order of the fields.
struct Section {
  std::string_view name;
  absl::InlinedVector<Piece, 1> pieces;
  std::uint64_t size = 0;
  std::uint32_t flags = 0;  // no CUDA tool uses the upper half
  std::uint32_t type = 0;
  std::uint32_t align = 1;
  SectionId owner = kNone;      // the section that sh_info names: a function's code, mostly
  FunctionId function = kNone;  // whose code, attributes, constants or shared memory it is
  SymbolId symbol = kNone;      // its section symbol
  SectionId rel = kNone;        // the relocation sections that apply to it
  SectionId rela = kNone;
  std::uint32_t info_list = kNone;  // of attribute sections: index in Program::info_lists
  SectionKind kind = SectionKind::kDebug;
  std::uint8_t registers = 0;       // upper byte of a code section's sh_info
  std::uint8_t bank : 6 = 0;        // of constants
  bool only_if_filled : 1 = false;  // empty constants: written where the layout fills them
  bool stays_in_place : 1 = false;  // constants of a device function that no body of it uses: the
                                    // layout does not move them to kernels
  bool comes_late : 1 = false;      // behind the call graph: made when all inputs were there
  bool is_laid_out : 1 = false;     // an assembler placed what is in it (UnnamedShared)
};
static_assert(sizeof(Section) == 96);

// Sections that nvlink makes of its own: the null section, tables of strings, symbols and wide
// indices before all others, and one more behind the two notes.
inline constexpr std::uint32_t kNvlinkTables = 5;
inline constexpr std::uint32_t kNvlinkOwnSections = kNvlinkTables + 1;

// nvlink's own number of a section before which it counted so many of the program's.
inline std::uint32_t NvlinkNumberOf(std::uint32_t counted_before) {
  constexpr std::uint32_t kNotes = 2;
  return counted_before + (counted_before < kNotes ? kNvlinkTables : kNvlinkOwnSections);
}

// A kernel's parameters: bank 0 of its constants.
inline bool IsParameterBank(const Section& section) {
  return section.kind == SectionKind::kFunctionConstants && section.bank == format::kParameterBank;
}

// How many nvlink counts for it: every parameter bank has one for texture slots beside it.
inline std::uint32_t SectionsCountedFor(const Section& section) {
  return IsParameterBank(section) ? 2 : 1;
}

// What an assembler placed in the shared memory of a kernel of an extensible program
// (ModuleView::extensible): a variable that has no symbol.
struct UnnamedShared {
  SectionId section = kNone;
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  std::uint32_t symbols_before = 0;  // how many there were when it arrived
};

struct Symbol {
  std::string_view name;
  std::uint64_t value = 0;  // offset in the section; for shared memory set by the layout
  std::uint64_t size = 0;
  SectionId section = kNone;    // kNone: undefined
  FunctionId function = kNone;  // of function symbols
  InputId input = 0;            // that created or, later, defined it
  std::uint32_t align = 1;      // of shared variables
  std::uint8_t binding = 0;
  std::uint8_t type = 0;
  std::uint8_t other = 0;            // without the memory space
  std::uint8_t space = 0;            // kStoGlobal, kStoShared, kStoConstant or 0
  bool global_part : 1 = false;      // of the symbol table
  bool external_shared : 1 = false;  // `extern __shared__ x[]`
  bool constant_size : 1 = false;    // stands for the size of `.nv.constant3`
  bool common : 1 = false;           // `.common`: allocated when all inputs are known
  bool common_defined : 1 = false;   // a strong definition without initialiser was met, too
  bool weak_reference : 1 = false;   // undefined, and may stay so
  bool unlisted : 1 = false;         // a relocation refers to it, but no symbol table has it
};
static_assert(sizeof(Symbol) == 56);

struct Function {
  SymbolId symbol = kNone;
  SectionId text = kNone;  // kNone: undefined
  SectionId info = kNone;
  SectionId shared = kNone;  // kernels only
  absl::InlinedVector<SectionId, 2> constants;
  std::uint32_t registers = 0;      // as its module states them
  std::uint32_t prototype = kNone;  // as stated so far, for `.nv.prototype`
  FunctionId alias_of = kNone;      // another function with the same code (`.alias`)
  bool is_kernel = false;
  bool is_laid_out = false;  // kernels: by their assembler (ModuleView::extensible)
};

// A record of a `.nv.info` section, its symbols resolved.
struct AttributeRecord {
  base::Bytes payload;
  std::uint16_t value = 0;
  std::uint8_t format = 0;
  std::uint8_t id = 0;
  SymbolId symbol = kNone;  // of records that begin with a symbol
  std::uint32_t externs =
      kNone;                  // first of `payload.size() / 4` symbols in Program::extern_symbols
  std::uint32_t arrival = 0;  // position among all records of the link
};

struct Relocation {
  std::uint64_t offset = 0;  // in the output section
  std::int64_t addend = 0;
  SectionId section = kNone;  // that it applies to
  SectionId list = kNone;     // the relocation section it came in
  SymbolId symbol = kNone;
  std::uint32_t type = 0;
};

struct CallEdge {
  FunctionId caller = kNone;
  FunctionId callee = kNone;
};
struct PrototypeUse {  // a function whose address is taken, or one that calls through a pointer
  FunctionId function = kNone;
  std::uint32_t prototype = 0;  // offset in Program::prototypes plus one
};

// A function of which an input says that a variable points to it, with the text of its prototype.
struct PointedFunction {
  FunctionId function = kNone;
  std::string_view prototype;
};

// Pointers in constants to something of which another input's copy stays. For nvlink they are null.
struct SecondCopyPointers {
  std::size_t count = 0;
  std::string_view first;  // what one of them points to
  bool stay_null = false;  // in this link, too
};

// A name on its way into a string table. It gets there unless what it names is left out; of several
// with the same text the first that stays counts.
struct NameEntry {
  std::string_view text;
  SectionId section = kNone;  // whose name it is,
  SymbolId symbol = kNone;    // if anybody's
};

// What nvlink's own bookkeeping leaves in the file, though no program needs it.
struct NvlinkResidue {
  // Sections that nvlink has made by the end of the merge, those included that it keeps to itself;
  // past a limit the output has a `.symtab_shndx`.
  std::uint32_t internal_sections = 0;
  // Sections that nvlink made and the program does not have any more: how many it counted for them
  // before each of these sections.
  std::vector<std::pair<SectionId, std::uint32_t>> skipped_numbers;
  // Of constants whose discarded copies had variables: where the last copy's lie.
  base::HashMap<SectionId, std::uint64_t> discarded_variables;
  // Of the compiler's constants of functions with several bodies: where those begin that bodies
  // brought which were discarded. None where there are none.
  base::HashMap<SectionId, std::uint64_t> discarded_constants;
  // Where the last piece lies that nvlink packs into `.nv.constant3` (merge/constant_packing.h).
  std::optional<std::uint64_t> last_packed_constant;
};

struct Program {
  // Of which view of the inputs. The words are those of machine code in either (format/views.h).
  format::ViewKind view = format::ViewKind::kSass;

  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  std::vector<Function> functions;

  // Names in the order in which they enter the string tables; some more than once.
  std::vector<NameEntry> section_names;  // `.shstrtab`
  std::vector<NameEntry> symbol_names;   // `.strtab`
  std::string prototypes;                // `#v_i`..., each with its NUL

  // In order of arrival; nvlink keeps most of these lists reversed, which the writer restores.
  std::vector<Relocation> relocations;
  std::vector<CallEdge> calls;
  std::vector<PrototypeUse> indirect_callers;
  std::vector<PrototypeUse> addresses_taken;  // once per function
  std::vector<CallEdge> address_takers;       // who takes whose address
  // Not among them, as it was said of a discarded copy; once per function (link/pointers.h).
  std::vector<PointedFunction> pointed_functions;
  std::vector<FunctionId> remembered_addresses;  // of those: they are among addresses_taken now
  std::vector<FunctionId> forgotten_addresses;   // of those: they are lost, as by nvlink
  SecondCopyPointers second_copy_pointers;
  std::vector<std::vector<AttributeRecord>> info_lists;  // in creation order of their sections
  std::vector<SectionId> info_sections;                  // whose they are
  std::vector<SymbolId> extern_symbols;
  std::vector<SymbolId> commons;              // in the order of becoming common
  std::vector<SymbolId> shared_definitions;   // `extern x[]` too; one per definition, so some twice
  std::vector<UnnamedShared> unnamed_shared;  // in order of arrival

  SectionId tool_note = kNone;
  SectionId cuda_note = kNone;
  SectionId module_info = kNone;
  SectionId compat = kNone;
  SectionId module_shared = kNone;
  SectionId constant_bank3 = kNone;
  std::uint32_t module_shared_align = 1;  // strictest variable of `.nv_debug.shared`

  NvlinkResidue residue;

  std::shared_ptr<const base::StringArena> names;  // those that no module has

  [[nodiscard]] bool IsDefined(FunctionId function) const {
    return functions[function].text != kNone;
  }
};

}  // namespace devlink::internal
