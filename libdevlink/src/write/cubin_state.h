// SPDX-License-Identifier: Apache-2.0
//
// What a CubinWriter holds. cubin_writer.cc takes it in, cubin_output.cc lays it out and writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "write/output_buffer.h"
#include "write/string_table.h"

namespace devlink {

namespace internal {

inline constexpr std::uint32_t kTables = 4;  // null, two string tables, the symbol table
inline constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 30;
inline constexpr std::uint32_t kNoRun = 0xffffffff;
inline constexpr std::uint32_t kNoInfo = 0xffffffff;
inline constexpr std::uint32_t kMaxRun = 0x7fffffff;
inline constexpr std::uint8_t kBadAlign = 63;

inline std::uint32_t Index(SectionHandle handle) { return static_cast<std::uint32_t>(handle); }
inline std::uint32_t Index(SymbolHandle handle) { return static_cast<std::uint32_t>(handle); }

// A run of bytes of a section: borrowed, or from an offset of the writer's own store. The runs of
// all sections stand in one list; each names the next of its section.
struct Run {
  union {
    const std::uint8_t* borrowed;
    std::uint64_t own_offset;
  };
  std::uint64_t offset = 0;  // in the section
  std::uint32_t size : 31;
  std::uint32_t is_own : 1;
  std::uint32_t next = kNoRun;
};
static_assert(sizeof(Run) == 24);

// There are tens of thousands in a large link: small fields, nothing twice.
struct SectionState {
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
  SectionHandle link_section = kNoSection;
  std::uint32_t info = kNoInfo;  // a section's number, or a symbol's
  NameId name_id = 0;            // in `.shstrtab`
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t first_run = kNoRun;
  std::uint32_t last_run = kNoRun;
  std::uint32_t first_patches = kNoRun;
  std::uint32_t number = 0;
  std::uint8_t align_bits = 0;  // kBadAlign: not a power of two
  std::uint8_t entry_size = 0;
  std::uint8_t registers = 0;
  std::uint8_t category = 0;
  bool links_to_symtab = false;
  bool info_is_symbol = false;

  [[nodiscard]] std::uint64_t align() const { return std::uint64_t{1} << align_bits; }
};
static_assert(sizeof(SectionState) == 64);

struct SymbolState {
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  SectionHandle section = kNoSection;
  std::uint32_t index = 0;
  NameId name_id = 0;  // in `.strtab`; of the global part: known when all are added
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  bool in_global_part = false;
};
static_assert(sizeof(SymbolState) == 32);

// A name of the global part, and whose it is, if anybody's.
struct LateName {
  const char* begin = nullptr;
  std::uint32_t size = 0;  // as in a StringTable
  SymbolHandle symbol = kNoSymbol;
};
static_assert(sizeof(LateName) == 16);

// Words of the writer's own store that hold a symbol's number now and will hold its index, at equal
// distances. There are millions of words, and most stand in lists: Check sees to it that the store
// stays below 4 GiB.
struct SymbolWords {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t distance = 0;  // known from the second on
};

struct PatchState {
  std::uint64_t offset = 0;  // in the section
  std::uint64_t value = 0;
  BitField field;
};
static_assert(sizeof(PatchState) == 24);

// Patches of one section that were added one after the other.
struct PatchRun {
  std::size_t first = 0;
  std::size_t count = 0;
  SectionHandle section = kNoSection;
  std::uint32_t next = kNoRun;  // of the same section; known when the sections have their order
};

}  // namespace internal

struct CubinWriter::State {
  CubinHeader header;
  std::vector<internal::SectionState> sections;
  internal::SectionState stray;
  bool bad_handle = false;
  bool sections_complete = false;
  bool late_section = false;  // one was added after that
  std::vector<internal::SymbolState> symbols;
  std::vector<internal::Run> runs;
  std::vector<internal::LateName> late_names;
  std::vector<std::uint8_t> own;  // bytes that are not borrowed
  std::vector<internal::SymbolWords> symbol_words;
  std::vector<internal::PatchState> patches;
  std::vector<internal::PatchRun> patch_runs;
  std::uint64_t null_symbol_value = 0;
  internal::StringTable section_names;
  internal::StringTable symbol_names;

  // Found by LayOut.
  std::vector<SectionHandle> section_order;
  std::vector<SymbolHandle> symbol_order;
  std::uint32_t local_symbols = 1;
  std::vector<format::Phdr> segments;
  std::uint64_t section_names_size = 0;
  std::uint64_t symbol_names_size = 0;
  std::uint64_t symtab_offset = 0;
  std::uint64_t wide_indices_offset = 0;
  internal::NameId wide_indices_name = 0;
  std::uint64_t section_headers = 0;
  std::uint64_t program_headers = 0;
  std::uint64_t file_size = 0;  // 0: not laid out yet

  // What is said of a section that was never added goes nowhere, and LayOut reports it.
  internal::SectionState& At(SectionHandle handle);
  void AddRun(internal::SectionState& section, internal::Run run);
  void AppendBorrowed(SectionHandle handle, std::span<const std::uint8_t> bytes);
  void AppendOwn(SectionHandle handle, const void* bytes, std::uint64_t size);
  void MarkSymbolWord(std::size_t at);
  void CompleteSections();
  void AddLateName(std::string_view name, SymbolHandle symbol);

  [[nodiscard]] std::uint64_t section_count() const {
    return sections.size() + internal::kTables + (header.wide_section_indices ? 1 : 0);
  }
  template <typename Function>
  void ForEachSymbolWord(const Function& function) const {
    for (const internal::SymbolWords& words : symbol_words) {
      for (std::uint32_t i = 0; i < words.count; ++i) {
        function(std::size_t{words.first} + std::size_t{i} * words.distance);
      }
    }
  }
  [[nodiscard]] std::uint32_t OwnWord(std::size_t at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, own.data() + at, sizeof(value));
    return value;
  }

  [[nodiscard]] std::string_view NameOf(const internal::SectionState& section) const {
    return section_names.TextOf(section.name_id);
  }

  absl::Status Check() const;
  void Order();
  void LayOut();
  void FindSegments();
  [[nodiscard]] format::Ehdr FileHeader() const;
  [[nodiscard]] format::Shdr HeaderOf(const internal::SectionState& section) const;
  void WriteFile(internal::OutputBuffer& out) const;
  void WriteSymbols(internal::OutputBuffer& out) const;
  [[nodiscard]] std::span<const std::uint8_t> BytesOf(const internal::Run& run) const;
  void WriteContents(const internal::SectionState& section, internal::OutputBuffer& out) const;
  void WritePatched(const internal::SectionState& section, internal::OutputBuffer& out) const;
  void WriteSectionHeaders(internal::OutputBuffer& out) const;
};

}  // namespace devlink
