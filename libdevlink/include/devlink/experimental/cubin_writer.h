// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/cubin_writer.h
//
// Writes a cubin from sections, symbols, relocations and attributes, in the form in which the CUDA
// tools write it. The linker writes its output with it, tests write their inputs with it, and a
// code generator can write its object files with it.
//
// Order is meaning here. A name enters the string tables when the thing it names is added; symbols
// of the local part of a symbol table keep the order in which they were added, and so do those of
// the global part behind them; sections are sorted by category (docs/cubin-format.md, "Section
// order") and keep the order in which they were added within one. To reproduce a file, add things
// in its order.
//
//   #include <elf.h>
//
//   devlink::CubinWriter w({.sm = 80});
//   const auto text = w.AddSection({.name = ".text.k",
//                                   .type = SHT_PROGBITS,
//                                   .flags = SHF_ALLOC | SHF_EXECINSTR,
//                                   .align = 128,
//                                   .link = devlink::kSymbolTable});
//   const auto k = w.AddSymbol({.name = "k",
//                               .binding = STB_GLOBAL,
//                               .type = STT_FUNC,
//                               .other = devlink::kKernelSymbol,
//                               .section = text,
//                               .size = code.size()});
//   w.SetInfoSymbol(text, k, /*registers=*/8);
//   w.Append(text, code);
//   absl::StatusOr<std::vector<std::uint8_t>> cubin = w.Write();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/environment.h"
#include "devlink/sinks.h"

namespace devlink {

namespace internal {
class ResidueWriter;
}  // namespace internal

// What was added to a writer is called by these. They mean something to that writer only.
enum class SectionHandle : std::uint32_t {};
enum class SymbolHandle : std::uint32_t {};
enum class NameHandle : std::uint32_t {};  // of one string table
inline constexpr SectionHandle kNoSection{0xffffffff};
inline constexpr SymbolHandle kNoSymbol{0xffffffff};
inline constexpr NameHandle kNoName{0xffffffff};
inline constexpr SymbolHandle kNullSymbol{0xfffffffe};  // symbol 0 of any table

// Sections that every file has; they stand first, in this order.
inline constexpr SectionHandle kSectionNameTable{0};  // `.shstrtab`
inline constexpr SectionHandle kStringTable{1};       // `.strtab`
inline constexpr SectionHandle kSymbolTable{2};       // `.symtab`

// st_other of a kernel's symbol.
inline constexpr std::uint8_t kKernelSymbol = 0x10;

// How sections are sorted.
enum class SectionOrder : std::uint8_t { kByCategory, kAsAdded };

// What the header of a file says, and what holds of the file as a whole. A plain value.
struct CubinHeader {
  std::uint16_t sm = 0;     // 80 for sm_80
  bool executable = false;  // ET_EXEC with program headers, else ET_REL
  // e_flags as a whole. Without: what the CUDA tools write there, which is the index of
  // `.note.nv.cuinfo`, then `sm`, then a byte that depends on it.
  std::optional<std::uint32_t> flags;
  // e_phentsize of a file without program headers, where tools differ: their size or 0.
  std::uint16_t unused_program_header_size = 56;
  SectionOrder section_order = SectionOrder::kByCategory;
  // Adds `.symtab_shndx`, which has the section index of every symbol of `.symtab` in 32 bits.
  // Added by itself where there are 0xff00 sections or more, and AddWideIndices was not called.
  bool wide_section_indices = false;
};

// A section header; offsets, sizes and indices are filled in when the file is laid out.
struct SectionSpec {
  // Enters `.shstrtab`, and `.strtab` as the CUDA tools have it: but for sections of the Mercury
  // view (flag 0x10000000).
  std::string_view name;
  std::uint32_t type = 1;  // sh_type
  std::uint64_t flags = 0;
  std::uint64_t align = 1;  // a power of two
  std::uint64_t entry_size = 0;
  // The size of a section without bytes in the file (SHT_NOBITS and CUDA's equivalents).
  std::uint64_t nobits_size = 0;
  SectionHandle link = kNoSection;  // sh_link, often kSymbolTable
  // Enters the name into `.shstrtab` even where it stands there already.
  bool own_name = false;
  // Enters the name into `.shstrtab` only.
  bool only_section_name = false;
  // The name, if AddName entered it into `.shstrtab`: then it is not looked for there again.
  NameHandle entered_name = kNoName;
};

// Which part of its table a symbol stands in. Usually the binding tells: global symbols stand in
// the second part, local and weak ones in the first. nvlink departs from it where a symbol's
// binding changed after it had come into being. Names of the first part enter the string table when
// the symbol is added, those of the second part behind all other names.
enum class SymbolPart : std::uint8_t { kByBinding, kLocal, kGlobal };

// How a symbol table is sorted; sh_info is in any case one more than the index of the last symbol
// of the local part.
enum class SymbolOrder : std::uint8_t { kLocalPartFirst, kAsAdded };

// An entry of a symbol table.
struct SymbolSpec {
  std::string_view name;               // empty for a section symbol: it takes the section's name
  std::uint8_t binding = 0;            // upper half of st_info: STB_LOCAL
  std::uint8_t type = 0;               // lower half of st_info: STT_NOTYPE
  std::uint8_t other = 0;              // st_other, such as kKernelSymbol
  SectionHandle section = kNoSection;  // kNoSection: undefined
  std::uint64_t value = 0;             // st_value: an offset in its section
  std::uint64_t size = 0;              // st_size, in bytes
  SymbolPart part = SymbolPart::kByBinding;  // in front of or behind sh_info
  SectionHandle table = kSymbolTable;        // that it is an entry of
  bool name_comes_late = false;  // it enters the string table as if it were of the global part
  // The name, if AddName entered it into the table's string table: then it is not looked for there
  // again, whatever part the symbol is of.
  NameHandle entered_name = kNoName;
};

// How a name enters a string table.
struct NamePlacement {
  bool shared = true;         // not entered where it stands there already
  std::uint32_t padding = 0;  // zero bytes behind it, beyond the one that ends it
};

// A program header.
struct SegmentSpec {
  std::uint32_t type = 1;   // p_type; 1 is PT_LOAD
  std::uint32_t flags = 0;  // p_flags
  std::uint64_t align = 8;  // p_align, a power of two
  // Covers these sections and all between them, in the file's order; kNoSection: the table of
  // program headers. Where the last one has no bytes in the file (SHT_NOBITS), the segment's bytes
  // in the file end where it begins, and the memory of all such sections follows them.
  SectionHandle first = kNoSection;
  SectionHandle last = kNoSection;
};

// Where a bit field of an instruction or a data word lies.
struct BitField {
  std::uint8_t position = 0;  // of the lowest bit, counted from the relocated offset
  std::uint8_t width = 0;     // 1 to 64
};

// About how much will be added. Saves time and memory where it is known, and changes nothing.
struct CubinSizes {
  std::size_t sections = 0;      // by AddSection and its like
  std::size_t symbols = 0;       // by AddSymbol
  std::size_t patches = 0;       // by Patch
  std::size_t copied_bytes = 0;  // by anything but Append
};

// Used by one thread at a time. Borrows all names and bytes handed to it until Write or WriteTo
// returns. What is wrong with what was added is reported by LayOut, Write and WriteTo. One that was
// moved from can only be destroyed or assigned to.
class CubinWriter {
 public:
  explicit CubinWriter(CubinHeader header, const CubinSizes& expected = {});
  ~CubinWriter();
  CubinWriter(CubinWriter&&) noexcept;
  CubinWriter& operator=(CubinWriter&&) noexcept;

  // A section without bytes yet, behind those that were added before. What is wrong with `spec` is
  // said when the file is laid out.
  SectionHandle AddSection(const SectionSpec& spec);
  // A further string table, and a further symbol table whose names stand in the string table
  // `spec.link` (kNoSection: `.strtab`). `type`, `align` and `entry_size` of `spec` count, since
  // CUDA has types of its own for them.
  SectionHandle AddStringTable(const SectionSpec& spec);
  SectionHandle AddSymbolTable(const SectionSpec& spec,
                               SymbolOrder order = SymbolOrder::kLocalPartFirst);
  // A table of the section indices in 32 bits of all symbols of the symbol table to which it links,
  // which a file with 0xff00 sections or more needs for each of them. Of `spec` name, flags and
  // link count. `leads`: it stands in front of all sections but the first ones; of the Mercury
  // view's, behind the capsules.
  SectionHandle AddWideIndices(const SectionSpec& spec, bool leads);
  // How a symbol table is sorted from now on; it holds for the whole table when the file is laid
  // out.
  void SetSymbolOrder(SectionHandle symbol_table, SymbolOrder order);

  // An entry of the symbol table `spec.table`, behind those of its part that were added before.
  SymbolHandle AddSymbol(const SymbolSpec& spec);

  // Enters a name although nothing bears it, or before what bears it is added. kNoName where that
  // cannot be; LayOut then says why.
  NameHandle AddName(SectionHandle string_table, std::string_view name,
                     NamePlacement placement = {});
  // Text that stands before all names in `.strtab`: NUL-terminated prototypes (`#v_i`).
  void SetPrototypes(std::string_view prototypes);

  // sh_info is another section's index; or a symbol's index under the register count (`.text`).
  // sh_link is another section's index.
  void SetInfoSection(SectionHandle section, SectionHandle info);
  void SetInfoSymbol(SectionHandle section, SymbolHandle info, std::uint8_t registers = 0);
  void SetLinkSection(SectionHandle section, SectionHandle link);

  // `section` has no bytes of its own: it begins where those of `owner` do, and is as large
  // (`size`: or smaller).
  void ShareBytes(SectionHandle section, SectionHandle owner,
                  std::optional<std::uint64_t> size = std::nullopt);
  // Leaves bytes of the file unused in front of a section, before it is aligned.
  void SetGap(SectionHandle section, std::uint64_t bytes);

  // Contents. `Append` borrows the bytes; `AppendAligned` fills up with zeros first; `AppendWord`
  // and the typed forms below copy. Alignment and offsets count from the start of the section.
  void Append(SectionHandle section, std::span<const std::uint8_t> bytes);
  void AppendAligned(SectionHandle section, std::span<const std::uint8_t> bytes,
                     std::uint64_t align);
  void AppendZeros(SectionHandle section, std::uint64_t count);
  void AppendWord(SectionHandle section, std::uint32_t word);
  void AppendCopy(SectionHandle section, std::span<const std::uint8_t> bytes);
  // A 32-bit word that holds the final index of a symbol in its table, or of a section.
  void AppendSymbolIndex(SectionHandle section, SymbolHandle symbol);
  void AppendSectionIndex(SectionHandle section, SectionHandle other);

  // One entry of a relocation section (SHT_REL without, all others with addend, by the section's
  // type). The symbol must be one of the table that the section links to.
  void AddRelocation(SectionHandle section, std::uint64_t offset, std::uint32_t type,
                     SymbolHandle symbol, std::int64_t addend);

  // The head of one record of a `.nv.info` section: a value for formats 1 to 3, the payload's
  // length for format 4, whose payload follows or is appended next.
  void AddAttribute(SectionHandle section, std::uint8_t format, std::uint8_t id,
                    std::uint16_t value, std::span<const std::uint8_t> payload = {});
  // One of format 4 whose payload is a symbol's index and what follows that.
  void AddSymbolAttribute(SectionHandle section, std::uint8_t id, SymbolHandle symbol,
                          std::span<const std::uint8_t> rest);

  // Stores the low bits of `value` into a field of the section's bytes; all other bits stay.
  void Patch(SectionHandle section, std::uint64_t offset, BitField field, std::uint64_t value);

  // Bytes in the section so far.
  [[nodiscard]] std::uint64_t SizeOf(SectionHandle section) const;

  // Adds a program header. Where none is added, an executable has the usual ones: the program
  // headers, read-only sections, writable sections, the program headers; from sm_100 on the program
  // headers twice, constants, code, data, parameters, of each what there is.
  void AddSegment(const SegmentSpec& segment);

  // Lays the file out and tells its size in bytes. InvalidArgument for handles of nothing, patches
  // outside a section, alignments that are not a power of two, tables that do not belong together;
  // ResourceExhausted where the file would be larger than 64 GiB. Nothing may be added afterwards.
  absl::StatusOr<std::uint64_t> LayOut();
  // Hands the file to `sink` in pieces: never more of it is in memory than one piece, or one
  // section that has patches. Errors of LayOut, which need not be called before, and of the sink.
  // May be called again and then gives the same bytes.
  absl::Status WriteTo(OutputSink& sink);
  // The same, while up to `workers` of the environment's threads (0: as many as it has; more than
  // three are of no use) make what the sink gets on this one. Two pieces for each of them are in
  // memory at a time, each of less than three megabytes, beside what WriteTo has.
  absl::Status WriteTo(OutputSink& sink, const Environment& environment, unsigned workers = 0);
  // The same into memory.
  absl::StatusOr<std::vector<std::uint8_t>> Write();

 private:
  friend class internal::ResidueWriter;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace devlink
