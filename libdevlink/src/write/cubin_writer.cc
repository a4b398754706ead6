// SPDX-License-Identifier: Apache-2.0
#include "devlink/cubin_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/release.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "write/string_table.h"

namespace devlink {

using base::AlignUp;
using format::Phdr;
using format::Shdr;

namespace {

constexpr std::uint32_t kTables = 4;  // null, two string tables, the symbol table
constexpr std::uint64_t kPhdrAlign = 8;
constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 30;
constexpr std::uint32_t kNoRun = 0xffffffff;
constexpr std::uint32_t kNoInfo = 0xffffffff;
constexpr std::uint32_t kMaxRun = 0x7fffffff;
constexpr std::uint8_t kBadAlign = 63;

// Position of a section in the file (docs/cubin-format.md, "Section order").
int CategoryOf(std::string_view name, std::uint32_t type) {
  if (name.starts_with(".debug") || name.starts_with(".nv_debug_")) return 1;
  switch (type) {
    case format::kShtNote:
      return 2;
    case format::kShtCudaInfo:
    case format::kShtCudaCompat:
      return 3;
    case format::kShtCudaCallGraph:
    case format::kShtCudaPrototype:
    case format::kShtCudaRelocInfo:
      return 4;
    case format::kShtRel:
    case format::kShtRela:
      return 5;
    default:
      break;
  }
  if (name.starts_with(".nv.constant")) return 6;
  if (name.starts_with(".text")) return 7;
  if (name == ".nv.global.init") return 8;
  return 9;
}

std::uint32_t Index(SectionHandle handle) { return static_cast<std::uint32_t>(handle); }
std::uint32_t Index(SymbolHandle handle) { return static_cast<std::uint32_t>(handle); }

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
  internal::NameId name_id = 0;  // in `.shstrtab`
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t first_run = kNoRun;
  std::uint32_t last_run = kNoRun;
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
  internal::NameId name_id = 0;  // in `.strtab`; of the global part: known when all are added
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  bool in_global_part = false;
};
static_assert(sizeof(SymbolState) == 32);

// A name of the global part, and whose it is, if anybody's.
struct LateName {
  std::string_view text;
  SymbolHandle symbol = kNoSymbol;
};

// Words of the writer's own store that hold a symbol's number now and will hold its index, at equal
// distances. There are millions of words, and most stand in lists: Check sees to it that the store
// stays below 4 GiB.
struct SymbolWords {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t distance = 0;  // known from the second on
};

struct PatchState {
  std::uint64_t offset = 0;
  std::uint64_t value = 0;
  SectionHandle section = kNoSection;
  BitField field;
};

void StoreBits(std::uint8_t* at, BitField field, std::uint64_t value) {
  for (unsigned done = 0; done < field.width;) {
    const unsigned bit = field.position + done;
    const unsigned in_byte = bit % 8;
    const unsigned count = std::min(8 - in_byte, field.width - done);
    const unsigned mask = ((1U << count) - 1U) << in_byte;
    const auto bits = static_cast<unsigned>((value >> done) << in_byte) & mask;
    std::uint8_t& byte = at[bit / 8];
    byte = static_cast<std::uint8_t>((byte & ~mask) | bits);
    done += count;
  }
}

}  // namespace

struct CubinWriter::State {
  CubinHeader header;
  std::vector<SectionState> sections;
  SectionState stray;
  bool bad_handle = false;
  bool ordered = false;
  std::vector<SymbolState> symbols;
  std::vector<Run> runs;
  std::vector<LateName> late_names;
  std::vector<std::uint8_t> own;  // bytes that are not borrowed
  std::vector<SymbolWords> symbol_words;
  std::vector<PatchState> patches;
  std::uint64_t null_symbol_value = 0;
  internal::StringTable section_names;
  internal::StringTable symbol_names;

  // Found by Write.
  std::vector<SectionHandle> section_order;
  std::vector<SymbolHandle> symbol_order;
  std::uint32_t local_symbols = 1;
  std::vector<Phdr> segments;
  std::uint64_t section_names_size = 0;
  std::uint64_t symbol_names_size = 0;
  std::uint64_t symtab_offset = 0;
  std::uint64_t wide_indices_offset = 0;
  internal::NameId wide_indices_name = 0;
  std::uint64_t section_headers = 0;
  std::uint64_t program_headers = 0;
  std::uint64_t file_size = 0;

  // What is said of a section that was never added goes nowhere, and Write reports it.
  SectionState& At(SectionHandle handle) {
    if (Index(handle) < sections.size()) return sections[Index(handle)];
    bad_handle = true;
    stray = SectionState();
    return stray;
  }

  [[nodiscard]] std::uint64_t section_count() const {
    return sections.size() + kTables + (header.wide_section_indices ? 1 : 0);
  }

  void AddRun(SectionState& section, Run run) {
    const auto number = static_cast<std::uint32_t>(runs.size());
    (section.last_run == kNoRun ? section.first_run : runs[section.last_run].next) = number;
    section.last_run = number;
    section.size += run.size;
    runs.push_back(run);
  }

  void AppendBorrowed(SectionHandle handle, std::span<const std::uint8_t> bytes) {
    SectionState& section = At(handle);
    while (!bytes.empty()) {
      const std::size_t size = std::min<std::size_t>(bytes.size(), kMaxRun);
      Run run{.borrowed = bytes.data(), .offset = section.size};
      run.size = static_cast<std::uint32_t>(size);
      run.is_own = 0;
      AddRun(section, run);
      bytes = bytes.subspan(size);
    }
  }

  void AppendOwn(SectionHandle handle, const void* bytes, std::uint64_t size) {
    SectionState& section = At(handle);
    const auto* begin = static_cast<const std::uint8_t*>(bytes);
    own.insert(own.end(), begin, begin + size);
    while (size != 0) {
      const std::uint64_t from = own.size() - size;
      if (section.last_run != kNoRun) {
        Run& last = runs[section.last_run];
        if (last.is_own != 0 && last.own_offset + last.size == from &&
            last.offset + last.size == section.size && last.size + size <= kMaxRun) {
          last.size += static_cast<std::uint32_t>(size);
          section.size += size;
          return;
        }
      }
      Run run{.own_offset = from, .offset = section.size};
      run.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kMaxRun));
      run.is_own = 1;
      AddRun(section, run);
      size -= run.size;
    }
  }

  // The word at `at` of the own store holds a symbol's number.
  void MarkSymbolWord(std::size_t at) {
    const auto offset = static_cast<std::uint32_t>(at);
    if (!symbol_words.empty()) {
      SymbolWords& last = symbol_words.back();
      const std::uint32_t end = last.first + (last.count - 1) * last.distance;
      if (last.count == 1) last.distance = offset - end;
      if (offset - end == last.distance) {
        ++last.count;
        return;
      }
    }
    symbol_words.push_back({.first = offset});
  }

  template <typename Function>
  void ForEachSymbolWord(const Function& function) const {
    for (const SymbolWords& words : symbol_words) {
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

  [[nodiscard]] std::string_view NameOf(const SectionState& section) const {
    return section_names.TextOf(section.name_id);
  }

  absl::Status Check() const;
  void Order();
  void LayOut();
  void FindSegments();
  std::vector<std::uint8_t> Fill();
  void FillHeader(std::uint8_t* out) const;
  void FillSections(std::uint8_t* out) const;
  void FillSymbols(std::uint8_t* out) const;
  [[nodiscard]] Shdr HeaderOf(const SectionState& section) const;
};

CubinWriter::CubinWriter(CubinHeader header) : state_(std::make_unique<State>()) {
  state_->header = header;
  for (std::string_view name : {".shstrtab", ".strtab", ".symtab"}) {
    AddSectionName(name);
    AddSymbolName(name);
  }
}
CubinWriter::~CubinWriter() = default;
CubinWriter::CubinWriter(CubinWriter&&) noexcept = default;
CubinWriter& CubinWriter::operator=(CubinWriter&&) noexcept = default;

void CubinWriter::Reserve(std::size_t sections, std::size_t symbols, std::size_t copied_bytes) {
  state_->own.reserve(copied_bytes);
  state_->runs.reserve(sections);
  state_->sections.reserve(sections);
  state_->symbols.reserve(symbols);
  state_->section_names.Reserve(sections);
  state_->symbol_names.Reserve(sections + symbols);
}

void CubinWriter::AddSectionName(std::string_view name) { state_->section_names.Add(name); }
void CubinWriter::AddSymbolName(std::string_view name) { state_->symbol_names.Add(name); }
void CubinWriter::AddLateSymbolName(std::string_view name) {
  state_->late_names.push_back({.text = name});
}
void CubinWriter::SetNullSymbolValue(std::uint64_t value) { state_->null_symbol_value = value; }
void CubinWriter::SetPrototypes(std::string_view prototypes) {
  state_->symbol_names.SetHead(prototypes);
}

SectionHandle CubinWriter::AddSection(const SectionSpec& spec) {
  const auto handle = static_cast<SectionHandle>(state_->sections.size());
  SectionState& section = state_->sections.emplace_back();
  section.type = spec.type;
  section.number = spec.number;
  section.flags = static_cast<std::uint32_t>(spec.flags);
  const bool usable =
      base::IsPowerOfTwo(spec.align) && spec.align <= kMaxFile && spec.flags == section.flags;
  section.align_bits = usable ? static_cast<std::uint8_t>(std::countr_zero(spec.align)) : kBadAlign;
  section.entry_size = static_cast<std::uint8_t>(spec.entry_size);
  section.size = spec.nobits_size;
  section.links_to_symtab = spec.links_to_symtab;
  section.category = static_cast<std::uint8_t>(CategoryOf(spec.name, spec.type));
  section.name_id = state_->section_names.Add(spec.name);
  if (spec.name_in_string_table) AddSymbolName(spec.name);
  return handle;
}

SymbolHandle CubinWriter::AddSymbol(const SymbolSpec& spec) {
  const auto handle = static_cast<SymbolHandle>(state_->symbols.size());
  SymbolState& symbol = state_->symbols.emplace_back();
  const std::string_view name = spec.name.empty() && spec.section != kNoSection
                                    ? state_->NameOf(state_->At(spec.section))
                                    : spec.name;
  symbol.value = spec.value;
  symbol.size = spec.size;
  symbol.section = spec.section;
  symbol.info = static_cast<std::uint8_t>(spec.binding << 4 | spec.type);
  symbol.other = spec.other;
  symbol.in_global_part = spec.part == SymbolPart::kByBinding ? spec.binding == format::kStbGlobal
                                                              : spec.part == SymbolPart::kGlobal;
  if (symbol.in_global_part) {
    state_->late_names.push_back({name, handle});
  } else {
    symbol.name_id = state_->symbol_names.Add(name);
  }
  return handle;
}

void CubinWriter::SetInfoSection(SectionHandle section, SectionHandle info) {
  state_->At(section).info = Index(info);
  state_->At(section).info_is_symbol = false;
}
void CubinWriter::SetInfoSymbol(SectionHandle section, SymbolHandle info, std::uint8_t registers) {
  SectionState& state = state_->At(section);
  state.info = Index(info);
  state.info_is_symbol = true;
  state.registers = registers;
}
void CubinWriter::SetLinkSection(SectionHandle section, SectionHandle link) {
  state_->At(section).link_section = link;
}

void CubinWriter::Append(SectionHandle section, std::span<const std::uint8_t> bytes) {
  state_->AppendBorrowed(section, bytes);
}

void CubinWriter::AppendAligned(SectionHandle section, std::span<const std::uint8_t> bytes,
                                std::uint64_t align) {
  const std::uint64_t size = SizeOf(section);
  AppendZeros(section, AlignUp(size, align) - size);
  Append(section, bytes);
}

void CubinWriter::AppendZeros(SectionHandle section, std::uint64_t count) {
  state_->At(section).size += count;
}
void CubinWriter::AppendWord(SectionHandle section, std::uint32_t word) {
  state_->AppendOwn(section, &word, sizeof(word));
}
void CubinWriter::AppendCopy(SectionHandle section, std::span<const std::uint8_t> bytes) {
  if (!bytes.empty()) state_->AppendOwn(section, bytes.data(), bytes.size());
}
void CubinWriter::AppendSymbolIndex(SectionHandle section, SymbolHandle symbol) {
  state_->MarkSymbolWord(state_->own.size());
  AppendWord(section, Index(symbol));
}

void CubinWriter::AddRelocation(SectionHandle section, std::uint64_t offset, std::uint32_t type,
                                SymbolHandle symbol, std::int64_t addend) {
  const bool with_addend = state_->At(section).type != format::kShtRel;
  const format::Rela entry{
      .offset = offset, .type = type, .symbol = Index(symbol), .addend = addend};
  state_->MarkSymbolWord(state_->own.size() + offsetof(format::Rela, symbol));
  state_->AppendOwn(section, &entry, with_addend ? sizeof(entry) : format::kRelSize);
}

void CubinWriter::AddAttribute(SectionHandle section, std::uint8_t format, std::uint8_t id,
                               std::uint16_t value) {
  const std::array<std::uint8_t, 4> head = {format, id, static_cast<std::uint8_t>(value & 0xff),
                                            static_cast<std::uint8_t>(value >> 8)};
  state_->AppendOwn(section, head.data(), head.size());
}

void CubinWriter::Patch(SectionHandle section, std::uint64_t offset, BitField field,
                        std::uint64_t value) {
  state_->patches.push_back({offset, value, section, field});
}

std::uint64_t CubinWriter::SizeOf(SectionHandle section) const { return state_->At(section).size; }

absl::StatusOr<std::vector<std::uint8_t>> CubinWriter::Write() {
  if (!state_->ordered) {
    DEVLINK_RETURN_IF_ERROR(state_->Check());
    state_->Order();
    state_->ordered = true;
  }
  state_->LayOut();
  return state_->Fill();
}

absl::Status CubinWriter::State::Check() const {
  if (bad_handle) return absl::InvalidArgumentError("a section was named that was never added");
  const auto section_ok = [this](SectionHandle handle) {
    return handle == kNoSection || Index(handle) < sections.size();
  };
  if (own.size() > std::numeric_limits<std::uint32_t>::max()) {
    return absl::ResourceExhaustedError("more than 4 GiB of attributes and relocations");
  }
  std::uint64_t total = 0;
  for (const SectionState& section : sections) {
    const std::size_t limit = section.info_is_symbol ? symbols.size() : sections.size();
    if (section.align_bits == kBadAlign || !section_ok(section.link_section) ||
        (section.info != kNoInfo && section.info >= limit)) {
      return absl::InvalidArgumentError(
          absl::StrCat("section '", base::ToAbsl(NameOf(section)),
                       "': its alignment, its flags or a reference is invalid"));
    }
    if (format::IsNobitsType(section.type)) continue;
    if (section.size > kMaxFile || total > kMaxFile) break;
    total += section.size + section.align();
  }
  if (total > kMaxFile || std::any_of(sections.begin(), sections.end(), [](const auto& section) {
        return !format::IsNobitsType(section.type) && section.size > kMaxFile;
      })) {
    return absl::ResourceExhaustedError("the output would be larger than 64 GiB");
  }
  for (const SymbolState& symbol : symbols) {
    if (!section_ok(symbol.section)) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol ", &symbol - symbols.data(), " names no section of this file"));
    }
  }
  bool words_ok = true;
  ForEachSymbolWord([&](std::size_t at) { words_ok = words_ok && OwnWord(at) < symbols.size(); });
  if (!words_ok) {
    return absl::InvalidArgumentError("a word refers to a symbol that was never added");
  }
  for (const PatchState& patch : patches) {
    const std::uint64_t bytes = (patch.field.position + patch.field.width + 7U) / 8U;
    if (Index(patch.section) >= sections.size() || patch.field.width > 64 ||
        format::IsNobitsType(sections[Index(patch.section)].type) ||
        patch.offset > sections[Index(patch.section)].size ||
        sections[Index(patch.section)].size - patch.offset < bytes) {
      return absl::InvalidArgumentError("a patch lies outside its section");
    }
  }
  return absl::OkStatus();
}

// Gives sections and symbols their indices.
void CubinWriter::State::Order() {
  section_order.resize(sections.size());
  for (std::uint32_t i = 0; i < sections.size(); ++i) section_order[i] = SectionHandle{i};
  std::stable_sort(
      section_order.begin(), section_order.end(),
      [this](SectionHandle a, SectionHandle b) { return At(a).category < At(b).category; });
  header.wide_section_indices =
      header.wide_section_indices || sections.size() + kTables >= format::kShnLoReserve;
  if (header.wide_section_indices) wide_indices_name = section_names.Add(".symtab_shndx");
  std::uint32_t index = kTables + (header.wide_section_indices ? 1 : 0);
  for (const SectionHandle handle : section_order) At(handle).index = index++;

  std::uint32_t next = 1;
  symbol_order.clear();
  for (const bool global : {false, true}) {
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i].in_global_part != global) continue;
      symbols[i].index = next++;
      symbol_order.push_back(SymbolHandle{i});
    }
    if (!global) local_symbols = next;
  }
  for (const LateName& name : late_names) {
    const internal::NameId id = symbol_names.Add(name.text);
    if (name.symbol != kNoSymbol) symbols[Index(name.symbol)].name_id = id;
  }
  base::Release(late_names);
  section_names_size = section_names.Finish();
  symbol_names_size = symbol_names.Finish();
  ForEachSymbolWord([this](std::size_t at) {
    const std::uint32_t value = symbols[OwnWord(at)].index;
    std::memcpy(own.data() + at, &value, sizeof(value));
  });
  base::Release(symbol_words);
}

// Header, string tables, symbol table, sections, section headers, program headers.
void CubinWriter::State::LayOut() {
  std::uint64_t at = sizeof(format::Ehdr) + section_names_size + symbol_names_size;
  symtab_offset = at = AlignUp(at, 8);
  at += (symbols.size() + 1) * sizeof(format::Sym);
  if (header.wide_section_indices) {
    wide_indices_offset = at;
    at += (symbols.size() + 1) * sizeof(std::uint32_t);
  }
  for (const SectionHandle handle : section_order) {
    SectionState& section = At(handle);
    section.file_offset = at = AlignUp(at, section.align());
    if (!format::IsNobitsType(section.type)) at += section.size;
  }
  section_headers = at = AlignUp(at, 8);
  at += section_count() * sizeof(Shdr);
  program_headers = at;
  if (header.executable) FindSegments();
  file_size = at + segments.size() * sizeof(Phdr);
}

// The program headers themselves, read-only sections, writable sections, the headers again.
void CubinWriter::State::FindSegments() {
  const SectionState* first_constant = nullptr;
  const SectionState* last_constant = nullptr;
  const SectionState* first_data = nullptr;
  const SectionState* last_data = nullptr;
  const SectionState* last_nobits = nullptr;
  std::uint64_t zeroed = 0;  // memory behind the file's bytes
  for (const SectionHandle handle : section_order) {
    const SectionState& section = At(handle);
    if ((section.flags & format::kShfAlloc) == 0) continue;
    if ((section.flags & format::kShfWrite) == 0) {
      if (first_constant == nullptr) first_constant = &section;
      last_constant = &section;
      continue;
    }
    if (first_data == nullptr) first_data = &section;
    last_data = &section;
    if (section.type != format::kShtNobits) continue;
    last_nobits = &section;
    zeroed = AlignUp(zeroed, section.align()) + section.size;
  }
  segments.clear();
  const std::uint64_t count =
      2 + (first_constant != nullptr ? 1 : 0) + (first_data != nullptr ? 1 : 0);
  const std::uint64_t table = count * sizeof(Phdr);
  segments.push_back(
      {format::kPtPhdr, format::kPfRX, program_headers, 0, 0, table, table, kPhdrAlign});
  if (first_constant != nullptr) {
    const std::uint64_t size =
        last_constant->file_offset + last_constant->size - first_constant->file_offset;
    segments.push_back({format::kPtLoad, format::kPfRX, first_constant->file_offset, 0, 0, size,
                        size, kPhdrAlign});
  }
  if (first_data != nullptr) {
    const std::uint64_t end = last_nobits != nullptr ? last_nobits->file_offset
                                                     : last_data->file_offset + last_data->size;
    const std::uint64_t size = end - first_data->file_offset;
    segments.push_back({format::kPtLoad, format::kPfRW, first_data->file_offset, 0, 0, size,
                        size + zeroed, kPhdrAlign});
  }
  segments.push_back(
      {format::kPtLoad, format::kPfRX, program_headers, 0, 0, table, table, kPhdrAlign});
}

std::vector<std::uint8_t> CubinWriter::State::Fill() {
  std::vector<std::uint8_t> out(file_size);
  FillHeader(out.data());
  section_names.Write(out.data() + sizeof(format::Ehdr));
  symbol_names.Write(out.data() + sizeof(format::Ehdr) + section_names_size);
  FillSymbols(out.data());
  for (const SectionState& section : sections) {
    for (std::uint32_t i = section.first_run; i != kNoRun; i = runs[i].next) {
      const Run& run = runs[i];
      const std::uint8_t* from = run.is_own != 0 ? own.data() + run.own_offset : run.borrowed;
      std::memcpy(out.data() + section.file_offset + run.offset, from, run.size);
    }
  }
  for (const PatchState& patch : patches) {
    StoreBits(out.data() + At(patch.section).file_offset + patch.offset, patch.field, patch.value);
  }
  FillSections(out.data() + section_headers);
  if (!segments.empty()) {
    std::memcpy(out.data() + program_headers, segments.data(), segments.size() * sizeof(Phdr));
  }
  return out;
}

void CubinWriter::State::FillHeader(std::uint8_t* out) const {
  std::uint32_t cuda_note = 0;
  for (const SectionState& section : sections) {
    if (NameOf(section) == ".note.nv.cuinfo") cuda_note = section.index;
  }
  format::Ehdr ehdr = {};
  const std::array<std::uint8_t, 9> ident = {
      0x7f, 'E', 'L', 'F', 2, 1, 1, format::kOsAbiCuda, format::kAbiVersion};
  std::copy(ident.begin(), ident.end(), ehdr.ident);
  ehdr.type = header.executable ? format::kTypeExec : format::kTypeRel;
  ehdr.machine = format::kMachineCuda;
  ehdr.version = 1;
  ehdr.phoff = segments.empty() ? 0 : program_headers;
  ehdr.shoff = section_headers;
  ehdr.flags = cuda_note << 24 | std::uint32_t{header.sm} << 8 | header.flags_low_byte;
  ehdr.ehsize = sizeof(format::Ehdr);
  ehdr.phentsize = sizeof(Phdr);
  ehdr.phnum = static_cast<std::uint16_t>(segments.size());
  ehdr.shentsize = sizeof(Shdr);
  // Past 0xff00 the number stands in the null section's size.
  ehdr.shnum =
      section_count() > format::kShnLoReserve ? 0 : static_cast<std::uint16_t>(section_count());
  ehdr.shstrndx = 1;
  std::memcpy(out, &ehdr, sizeof(ehdr));
}

format::Shdr CubinWriter::State::HeaderOf(const SectionState& section) const {
  Shdr out = {};
  out.name = section_names.OffsetOf(section.name_id);
  out.type = section.type;
  out.flags = section.flags;
  out.offset = section.file_offset;
  out.size = section.size;
  out.addralign = section.align();
  out.entsize = section.entry_size;
  if (section.links_to_symtab) out.link = 3;
  if (section.link_section != kNoSection) out.link = sections[Index(section.link_section)].index;
  if (section.info != kNoInfo) {
    out.info = section.info_is_symbol
                   ? std::uint32_t{section.registers} << 24 | symbols[section.info].index
                   : sections[section.info].index;
  }
  return out;
}

void CubinWriter::State::FillSections(std::uint8_t* out) const {
  const auto put = [out](std::uint32_t index, const Shdr& shdr) {
    std::memcpy(out + index * sizeof(Shdr), &shdr, sizeof(shdr));
  };
  const std::uint64_t names_at = sizeof(format::Ehdr);
  // The constructor adds these names first.
  put(1, {section_names.OffsetOf(0), format::kShtStrtab, 0, 0, names_at, section_names_size, 0, 0,
          1, 0});
  put(2, {section_names.OffsetOf(1), format::kShtStrtab, 0, 0, names_at + section_names_size,
          symbol_names_size, 0, 0, 1, 0});
  put(3, {section_names.OffsetOf(2), format::kShtSymtab, 0, 0, symtab_offset,
          (symbols.size() + 1) * sizeof(format::Sym), 2, local_symbols, 8, sizeof(format::Sym)});
  if (header.wide_section_indices) {
    put(4, {section_names.OffsetOf(wide_indices_name), format::kShtSymtabShndx, 0, 0,
            wide_indices_offset, (symbols.size() + 1) * sizeof(std::uint32_t), 3, 0, 4, 4});
  }
  if (section_count() > format::kShnLoReserve) {
    Shdr null = {};
    null.size = section_count();
    put(0, null);
  }
  for (const SectionState& section : sections) put(section.index, HeaderOf(section));
}

void CubinWriter::State::FillSymbols(std::uint8_t* out) const {
  format::Sym null = {};
  null.value = null_symbol_value;
  std::memcpy(out + symtab_offset, &null, sizeof(null));
  for (const SymbolState& symbol : symbols) {
    format::Sym sym = {};
    sym.name = symbol_names.OffsetOf(symbol.name_id);
    sym.info = symbol.info;
    sym.other = symbol.other;
    const std::uint32_t section =
        symbol.section == kNoSection ? 0 : sections[Index(symbol.section)].index;
    sym.shndx = static_cast<std::uint16_t>(std::min(section, format::kShnXindex));
    if (section >= format::kShnLoReserve) sym.shndx = format::kShnXindex;
    if (header.wide_section_indices) {
      std::uint32_t wide = section;
      if (section < format::kShnLoReserve && section != 0) {
        const std::uint32_t number = sections[Index(symbol.section)].number;
        if (number != 0) wide = number;
      }
      std::memcpy(out + wide_indices_offset + symbol.index * sizeof(wide), &wide, sizeof(wide));
    }
    sym.value = symbol.value;
    sym.size = symbol.size;
    std::memcpy(out + symtab_offset + symbol.index * sizeof(sym), &sym, sizeof(sym));
  }
}

}  // namespace devlink
