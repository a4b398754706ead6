// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/cubin_writer.h
//
// Writes a cubin from sections, symbols, relocations and attributes, in the form in which the CUDA
// tools write it. The linker writes its output with it, tests write their inputs with it, and a
// code generator can write its object files with it.
//
// Order is meaning here. A name enters the string tables when the thing it names is added; symbols
// of the local part of the symbol table keep the order in which they were added, and so do those of
// the global part behind them; sections are sorted by category (docs/cubin-format.md, "Section
// order") and keep the order in which they were added within one. To reproduce a file, add things
// in its order.
//
//   devlink::CubinWriter w({.sm = 80});
//   auto text = w.AddSection({.name = ".text.k", .type = 1, .flags = 6, .align = 128});
//   auto k = w.AddSymbol({.name = "k", .binding = 1, .type = 2, .other = 0x10, .section = text});
//   w.SetInfoSymbol(text, k);
//   w.Append(text, code);
//   absl::StatusOr<std::vector<std::uint8_t>> cubin = w.Write();
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/output_sink.h"

namespace devlink {

// Things added to a writer are called by these numbers, which count from 0 in the order of adding.
enum class SectionHandle : std::uint32_t {};
enum class SymbolHandle : std::uint32_t {};
inline constexpr SectionHandle kNoSection{0xffffffff};
inline constexpr SymbolHandle kNoSymbol{0xffffffff};

struct CubinHeader {
  std::uint16_t sm = 0;             // 80 for sm_80
  bool executable = false;          // ET_EXEC with program headers, else ET_REL
  std::uint8_t flags_low_byte = 4;  // low byte of e_flags: 4 below sm_100
  // Adds `.symtab_shndx`, which has the section index of every symbol in 32 bits. Added by itself
  // where there are 0xff00 sections or more; nvlink adds it earlier, by a count of its own.
  bool wide_section_indices = false;
};

struct SectionSpec {
  std::string_view name;
  std::uint32_t type = 1;  // sh_type
  std::uint64_t flags = 0;
  std::uint64_t align = 1;  // a power of two
  std::uint64_t entry_size = 0;
  // The size of a section without bytes in the file (SHT_NOBITS and CUDA's equivalents).
  std::uint64_t nobits_size = 0;
  bool links_to_symtab = false;      // sh_link is the symbol table
  bool name_in_string_table = true;  // the name stands in `.strtab` too, as the CUDA tools have it
  // What `.symtab_shndx` says of symbols in this section while its index is below 0xff00, where
  // that table does not count; 0: its index. nvlink leaves a number of its own there.
  std::uint32_t number = 0;
};

// Which part of the symbol table a symbol stands in. Usually the binding tells: global symbols
// stand in the second part, local and weak ones in the first. nvlink departs from it where a
// symbol's binding changed after it had come into being. Names of the first part enter `.strtab`
// when the symbol is added, those of the second part behind all other names.
enum class SymbolPart : std::uint8_t { kByBinding, kLocal, kGlobal };

struct SymbolSpec {
  std::string_view name;  // empty for a section symbol: it takes the section's name
  std::uint8_t binding = 0;
  std::uint8_t type = 0;
  std::uint8_t other = 0;
  SectionHandle section = kNoSection;  // kNoSection: undefined
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  SymbolPart part = SymbolPart::kByBinding;
};

// Where a bit field of an instruction or a data word lies.
struct BitField {
  std::uint8_t position = 0;  // of the lowest bit, counted from the relocated offset
  std::uint8_t width = 0;     // 1 to 64
};

// Used by one thread at a time. Borrows all names and bytes handed to it until Write or WriteTo
// returns.
class CubinWriter {
 public:
  explicit CubinWriter(CubinHeader header);
  ~CubinWriter();
  CubinWriter(CubinWriter&&) noexcept;
  CubinWriter& operator=(CubinWriter&&) noexcept;

  // Makes room for what will be added, `copied_bytes` of it by anything but `Append`; saves time
  // and memory, changes nothing.
  void Reserve(std::size_t sections, std::size_t symbols, std::size_t copied_bytes = 0);

  // Enters a name into the string tables although nothing bears it. nvlink leaves such names
  // behind.
  void AddSectionName(std::string_view name);     // `.shstrtab`
  void AddSymbolName(std::string_view name);      // `.strtab`
  void AddLateSymbolName(std::string_view name);  // `.strtab`, among the global names

  // The value of symbol 0, which is 0 in ELF but not always in what nvlink writes.
  void SetNullSymbolValue(std::uint64_t value);

  // Text that stands before all names in `.strtab`: NUL-terminated prototypes (`#v_i`).
  void SetPrototypes(std::string_view prototypes);

  SectionHandle AddSection(const SectionSpec& spec);
  SymbolHandle AddSymbol(const SymbolSpec& spec);
  // Says that no section and no section's name is added any more, and so frees what finds their
  // names again. Need not be called.
  void CompleteSections();

  // sh_info is another section's index; or a symbol's index under the register count (`.text`); or,
  // for `.note.nv.cuinfo`, sh_link is the index of the tkinfo note.
  void SetInfoSection(SectionHandle section, SectionHandle info);
  void SetInfoSymbol(SectionHandle section, SymbolHandle info, std::uint8_t registers = 0);
  void SetLinkSection(SectionHandle section, SectionHandle link);

  // Contents. `Append` borrows the bytes; `AppendAligned` fills up with zeroes first; `AppendWord`
  // and the typed forms below copy. Alignment and offsets count from the start of the section.
  void Append(SectionHandle section, std::span<const std::uint8_t> bytes);
  void AppendAligned(SectionHandle section, std::span<const std::uint8_t> bytes,
                     std::uint64_t align);
  void AppendZeros(SectionHandle section, std::uint64_t count);
  void AppendWord(SectionHandle section, std::uint32_t word);
  void AppendCopy(SectionHandle section, std::span<const std::uint8_t> bytes);
  // A 32-bit word that holds the final index of a symbol.
  void AppendSymbolIndex(SectionHandle section, SymbolHandle symbol);

  // One entry of a relocation section (SHT_REL without, SHT_RELA with addend, by the section's
  // type).
  void AddRelocation(SectionHandle section, std::uint64_t offset, std::uint32_t type,
                     SymbolHandle symbol, std::int64_t addend);

  // The head of one record of a `.nv.info` section: a value for formats 1 to 3, the payload's
  // length for format 4, whose payload is appended next.
  void AddAttribute(SectionHandle section, std::uint8_t format, std::uint8_t id,
                    std::uint16_t value);

  // Stores the low bits of `value` into a field of the section's bytes; all other bits stay.
  void Patch(SectionHandle section, std::uint64_t offset, BitField field, std::uint64_t value);

  // Bytes in the section so far.
  [[nodiscard]] std::uint64_t SizeOf(SectionHandle section) const;

  // Lays the file out and tells its size in bytes. InvalidArgument for handles that are none,
  // patches outside a section, alignments that are no power of two; ResourceExhausted where the
  // file would be larger than 64 GiB. Nothing may be added afterwards.
  absl::StatusOr<std::uint64_t> LayOut();
  // Hands the file to `sink` in pieces: never more of it is in memory than one piece, or one
  // section that has patches. Errors of LayOut, which need not be called before, and of the sink.
  // May be called again and then gives the same bytes.
  absl::Status WriteTo(OutputSink& sink);
  // The same into memory.
  absl::StatusOr<std::vector<std::uint8_t>> Write();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace devlink
