// SPDX-License-Identifier: Apache-2.0
//
// What a CubinWriter holds. cubin_writer.cc takes it in, cubin_check.cc looks whether it can be
// written, cubin_layout.cc lays it out and cubin_output.cc writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "base/hash_table.h"
#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "format/views.h"
#include "write/output_buffer.h"
#include "write/own_bytes.h"
#include "write/string_table.h"

namespace devlink {

namespace internal {

inline constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 30;
inline constexpr std::uint32_t kNoRun = 0xffffffff;
inline constexpr std::uint32_t kNoInfo = 0xffffffff;
inline constexpr std::uint32_t kMaxRun = 0x7fffffff;
inline constexpr std::uint8_t kBadAlign = 63;
inline constexpr std::uint64_t kWholeOwner = ~std::uint64_t{0};  // until its size is known
inline constexpr std::size_t kMaxTables = 0xff;

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

// What the bytes of a section are.
enum class Content : std::uint8_t { kRuns, kStrings, kSymbols, kWideIndices, kShared };

// There are tens of thousands in a large link: small fields, nothing twice.
struct SectionState {
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
  SectionHandle link = kNoSection;
  std::uint32_t info = kNoInfo;  // a section's number, or a symbol's
  NameId name_id = 0;            // in `.shstrtab`
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t first_run = kNoRun;  // of kShared: the number of the section that has the bytes
  std::uint32_t last_run = kNoRun;
  std::uint32_t first_patches = kNoRun;
  std::uint32_t wide_index = kNoInfo;  // where wide tables have another than `index`
  std::uint8_t align_bits = 0;         // kBadAlign: not a power of two
  std::uint8_t entry_size = 0;
  std::uint8_t registers = 0;
  std::uint8_t category = 0;
  Content content = Content::kRuns;
  std::uint8_t table = 0;  // of kStrings and kSymbols: which one
  bool info_is_symbol = false;

  [[nodiscard]] std::uint64_t align() const { return std::uint64_t{1} << align_bits; }
  [[nodiscard]] SectionHandle owner() const { return SectionHandle{first_run}; }
  // Bytes of the file that are its own.
  [[nodiscard]] std::uint64_t file_size() const {
    return content == Content::kShared || !format::HasBytes(type, flags) ? 0 : size;
  }
};
static_assert(sizeof(SectionState) == 64);

struct SymbolState {
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  SectionHandle section = kNoSection;
  std::uint32_t index = 0;
  NameId name_id = 0;  // in the table's strings; of the global part: known when all are added
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  bool in_global_part = false;
  std::uint8_t table = 0;
};
static_assert(sizeof(SymbolState) == 32);

struct SymbolTableState {
  SectionHandle section = kNoSection;
  std::uint8_t strings = 0;
  SymbolOrder order = SymbolOrder::kLocalPartFirst;
  std::uint64_t null_value = 0;
  // Found by Order.
  std::vector<SymbolHandle> symbols;
  std::uint32_t info = 1;  // one more than the last index of the local part
};

// A name of the global part, and whose it is, if anybody's.
struct LateName {
  const char* begin = nullptr;
  std::uint32_t size : 31 = 0;  // as in a StringTable
  std::uint32_t anew : 1 = 0;   // also where the name stands there already
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
  bool has_two_views = false;  // as all files for the header's target
  std::vector<internal::SectionState> sections;
  internal::SectionState unknown_section;
  // The first mistake that is found when something is added.
  const char* mistake = nullptr;
  bool sections_complete = false;
  std::vector<internal::SymbolState> symbols;
  // Those of the sections' names, then `.strtab`.
  absl::InlinedVector<internal::StringTable, 2> strings;
  absl::InlinedVector<internal::SymbolTableState, 1> symbol_tables;
  std::vector<internal::Run> runs;
  std::vector<internal::LateName> late_names;
  internal::OwnBytes own;  // bytes that are not borrowed
  std::vector<internal::SymbolWords> symbol_words;
  std::vector<std::uint32_t> section_words;  // places in `own` that hold a section's number
  std::vector<internal::PatchState> patches;
  std::vector<internal::PatchRun> patch_runs;
  base::HashMap<SectionHandle, std::uint64_t> gaps;
  std::vector<SegmentSpec> segment_specs;

  // Found by LayOut.
  std::vector<SectionHandle> section_order;
  std::vector<format::Phdr> segments;
  std::uint64_t section_headers = 0;
  std::uint64_t program_headers = 0;
  std::uint64_t file_size = 0;  // 0: not laid out yet

  // What is said of a section that was never added goes nowhere, and LayOut reports it.
  internal::SectionState& At(SectionHandle handle) {
    return IsKnown(handle) ? sections[internal::Index(handle)] : NoSection();
  }
  internal::SectionState& NoSection();
  // The same for a section whose bytes are those that are appended to it.
  internal::SectionState& ToFill(SectionHandle handle) {
    internal::SectionState& section = At(handle);
    return section.content == internal::Content::kRuns ? section : NotToFill();
  }
  internal::SectionState& NotToFill();
  // 0 and a report where the section is not a table of that content.
  std::uint8_t TableAt(SectionHandle handle, internal::Content content);
  void Report(const char* what) { mistake = mistake == nullptr ? what : mistake; }

  void Reserve(const CubinSizes& expected);
  // What a string table has under the handle, which AddName gave.
  internal::NameId NameOfHandle(const internal::StringTable& table, NameHandle name);
  SectionHandle AddSection(const SectionSpec& spec, internal::Content content);
  SectionHandle AddWideIndices(SectionSpec spec, bool leads);
  // Whose indices such a table has; null where it links to none.
  [[nodiscard]] const internal::SymbolTableState* TableOf(
      const internal::SectionState& wide_indices) const;
  void AddStringTable(const SectionSpec& spec);
  void AddRun(internal::SectionState& section, internal::Run run);
  void AppendBorrowed(SectionHandle handle, std::span<const std::uint8_t> bytes);
  // `size` bytes at the section's end, to be filled before anything else is added.
  std::uint8_t* ExtendOwn(SectionHandle handle, std::uint64_t size) {
    internal::SectionState& section = ToFill(handle);
    const std::uint64_t from = own.size();
    std::uint8_t* place = own.Extend(size);
    if (section.last_run != internal::kNoRun) {
      internal::Run& last = runs[section.last_run];
      if (last.is_own != 0 && last.own_offset + last.size == from &&
          last.offset + last.size == section.size && last.size + size <= internal::kMaxRun) {
        last.size += static_cast<std::uint32_t>(size);
        section.size += size;
        return place;
      }
    }
    AddOwnRuns(section, from);
    return place;
  }
  // Runs for the bytes from there on.
  void AddOwnRuns(internal::SectionState& section, std::uint64_t from);
  void MarkSymbolWord(std::size_t at);
  void CompleteSections();
  void AddLateName(std::string_view name, SymbolHandle symbol, bool anew = false);

  [[nodiscard]] std::uint64_t section_count() const { return sections.size() + 1; }
  [[nodiscard]] internal::StringTable& section_names() { return strings[0]; }
  [[nodiscard]] const internal::StringTable& section_names() const { return strings[0]; }
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
  void SetOwnWord(std::size_t at, std::uint32_t value) {
    std::memcpy(own.data() + at, &value, sizeof(value));
  }

  [[nodiscard]] std::string_view NameOf(const internal::SectionState& section) const {
    return section_names().TextOf(section.name_id);
  }
  [[nodiscard]] std::uint32_t SectionIndexOf(const internal::SymbolState& symbol) const {
    return symbol.section == kNoSection ? 0 : sections[internal::Index(symbol.section)].index;
  }
  [[nodiscard]] bool IsKnown(SectionHandle handle) const {
    return internal::Index(handle) < sections.size();
  }

  // cubin_check.cc
  [[nodiscard]] absl::Status Check() const;
  [[nodiscard]] absl::Status CheckSections() const;
  [[nodiscard]] absl::Status CheckSymbols() const;
  [[nodiscard]] absl::Status CheckPatches() const;

  // cubin_layout.cc
  void Order();
  void OrderSections();
  void OrderSymbols(internal::SymbolTableState& table);
  void EnterLateNames();
  void ResolveWords();
  void LinkPatches();
  void LayOut();
  [[nodiscard]] absl::Status SettleRanges();
  [[nodiscard]] std::vector<SegmentSpec> UsualSegments() const;
  [[nodiscard]] std::vector<SegmentSpec> SegmentsOfTwoViews() const;
  [[nodiscard]] format::Phdr SegmentOf(const SegmentSpec& spec, std::size_t count) const;

  // cubin_output.cc
  [[nodiscard]] format::Ehdr FileHeader() const;
  [[nodiscard]] std::uint32_t FileFlags() const;
  [[nodiscard]] format::Shdr HeaderOf(const internal::SectionState& section) const;
  // A part of the file: some of its sections, with what stands in front of the first or behind the
  // last section of all.
  struct Stretch {
    std::size_t first = 0;  // in section_order
    std::size_t last = 0;   // the first that is not in it
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_last = false;
    bool is_ahead = true;  // made before the sink wants it: not what is large
  };
  [[nodiscard]] Stretch WholeFile() const {
    return {.last = section_order.size(), .end = file_size, .is_last = true};
  }
  [[nodiscard]] std::vector<Stretch> Stretches() const;
  void WriteStretch(const Stretch& stretch, internal::OutputBuffer& out) const;
  void WriteSection(const internal::SectionState& section, internal::OutputBuffer& out) const;
  void WriteSymbols(const internal::SymbolTableState& table, internal::OutputBuffer& out) const;
  void WriteWideIndices(const internal::SymbolTableState& table, internal::OutputBuffer& out) const;
  [[nodiscard]] std::span<const std::uint8_t> BytesOf(const internal::Run& run) const;
  void WriteContents(const internal::SectionState& section, internal::OutputBuffer& out) const;
  void WritePatched(const internal::SectionState& section, internal::OutputBuffer& out) const;
};

}  // namespace devlink
