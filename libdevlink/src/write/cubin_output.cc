// SPDX-License-Identifier: Apache-2.0
//
// The second half of a CubinWriter: what was described is checked, ordered, laid out and written
// from the first byte of the file to the last.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/release.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "write/cubin_state.h"

namespace devlink {

using base::AlignUp;
using format::Phdr;
using format::Shdr;
using internal::Index;
using internal::kBadAlign;
using internal::kMaxFile;
using internal::kNoInfo;
using internal::kNoRun;
using internal::kTables;
using internal::LateName;
using internal::OutputBuffer;
using internal::PatchRun;
using internal::PatchState;
using internal::Run;
using internal::SectionState;
using internal::SymbolState;

namespace {

constexpr std::uint64_t kPhdrAlign = 8;

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

// The whole file in memory.
class MemorySink final : public OutputSink {
 public:
  absl::Status Begin(std::uint64_t size) override {
    bytes.reserve(size);
    return absl::OkStatus();
  }
  absl::Status Append(std::span<const std::uint8_t> piece) override {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return absl::OkStatus();
  }
  std::vector<std::uint8_t> bytes;
};

}  // namespace

absl::StatusOr<std::vector<std::uint8_t>> CubinWriter::Write() {
  MemorySink sink;
  DEVLINK_RETURN_IF_ERROR(WriteTo(sink));
  return std::move(sink.bytes);
}

absl::StatusOr<std::uint64_t> CubinWriter::LayOut() {
  if (state_->file_size == 0) {
    DEVLINK_RETURN_IF_ERROR(state_->Check());
    state_->Order();
    state_->LayOut();
  }
  return state_->file_size;
}

absl::Status CubinWriter::WriteTo(OutputSink& sink) {
  DEVLINK_ASSIGN_OR_RETURN(const std::uint64_t size, LayOut());
  DEVLINK_RETURN_IF_ERROR(sink.Begin(size));
  OutputBuffer out(sink, size);
  state_->WriteFile(out);
  return out.Finish();
}

absl::Status CubinWriter::State::Check() const {
  if (bad_handle) return absl::InvalidArgumentError("a section was named that was never added");
  if (late_section) {
    return absl::InvalidArgumentError("a section was added after the sections were complete");
  }
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
  for (const PatchRun& run : patch_runs) {
    const SectionState* section =
        Index(run.section) < sections.size() ? &sections[Index(run.section)] : nullptr;
    if (section == nullptr || format::IsNobitsType(section->type)) {
      return absl::InvalidArgumentError("a patch lies outside its section");
    }
    for (const PatchState& patch : std::span(patches).subspan(run.first, run.count)) {
      const std::uint64_t bytes = (patch.field.position + patch.field.width + 7U) / 8U;
      if (patch.field.width > 64 || patch.offset > section->size ||
          section->size - patch.offset < bytes) {
        return absl::InvalidArgumentError("a patch lies outside its section");
      }
    }
  }
  return absl::OkStatus();
}

// Gives sections and symbols their indices.
void CubinWriter::State::Order() {
  CompleteSections();
  section_order.resize(sections.size());
  for (std::uint32_t i = 0; i < sections.size(); ++i) section_order[i] = SectionHandle{i};
  std::stable_sort(
      section_order.begin(), section_order.end(),
      [this](SectionHandle a, SectionHandle b) { return At(a).category < At(b).category; });
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
    const internal::NameId id = symbol_names.Add({name.begin, name.size});
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
  // From the last run to the first, so that each section's come out in the order of addition.
  for (std::size_t i = patch_runs.size(); i-- > 0;) {
    SectionState& section = At(patch_runs[i].section);
    patch_runs[i].next = section.first_patches;
    section.first_patches = static_cast<std::uint32_t>(i);
  }
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

void CubinWriter::State::WriteFile(OutputBuffer& out) const {
  out.PutValue(FileHeader());
  section_names.Write(out);
  symbol_names.Write(out);
  out.ZeroesTo(symtab_offset);
  WriteSymbols(out);
  for (const SectionHandle handle : section_order) {
    const SectionState& section = sections[Index(handle)];
    if (format::IsNobitsType(section.type)) continue;
    out.ZeroesTo(section.file_offset);
    section.first_patches == kNoRun ? WriteContents(section, out) : WritePatched(section, out);
  }
  out.ZeroesTo(section_headers);
  WriteSectionHeaders(out);
  for (const Phdr& segment : segments) out.PutValue(segment);
}

std::span<const std::uint8_t> CubinWriter::State::BytesOf(const Run& run) const {
  return {run.is_own != 0 ? own.data() + run.own_offset : run.borrowed, run.size};
}

void CubinWriter::State::WriteContents(const SectionState& section, OutputBuffer& out) const {
  for (std::uint32_t i = section.first_run; i != kNoRun; i = runs[i].next) {
    const Run& run = runs[i];
    out.ZeroesTo(section.file_offset + run.offset);
    out.Put(BytesOf(run));
  }
  out.ZeroesTo(section.file_offset + section.size);
}

// The whole section is needed at once: patches come in any order.
void CubinWriter::State::WritePatched(const SectionState& section, OutputBuffer& out) const {
  const std::span<std::uint8_t> bytes = out.Reserve(section.size);
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  for (std::uint32_t i = section.first_run; i != kNoRun; i = runs[i].next) {
    const Run& run = runs[i];
    std::memcpy(bytes.data() + run.offset, BytesOf(run).data(), run.size);
  }
  for (std::uint32_t i = section.first_patches; i != kNoRun; i = patch_runs[i].next) {
    for (const PatchState& patch :
         std::span(patches).subspan(patch_runs[i].first, patch_runs[i].count)) {
      StoreBits(bytes.data() + patch.offset, patch.field, patch.value);
    }
  }
}

format::Ehdr CubinWriter::State::FileHeader() const {
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
  return ehdr;
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

void CubinWriter::State::WriteSectionHeaders(OutputBuffer& out) const {
  const std::uint64_t names_at = sizeof(format::Ehdr);
  Shdr null = {};
  if (section_count() > format::kShnLoReserve) null.size = section_count();
  out.PutValue(null);
  // The constructor adds these names first.
  out.PutValue(Shdr{section_names.OffsetOf(0), format::kShtStrtab, 0, 0, names_at,
                    section_names_size, 0, 0, 1, 0});
  out.PutValue(Shdr{section_names.OffsetOf(1), format::kShtStrtab, 0, 0,
                    names_at + section_names_size, symbol_names_size, 0, 0, 1, 0});
  out.PutValue(Shdr{section_names.OffsetOf(2), format::kShtSymtab, 0, 0, symtab_offset,
                    (symbols.size() + 1) * sizeof(format::Sym), 2, local_symbols, 8,
                    sizeof(format::Sym)});
  if (header.wide_section_indices) {
    out.PutValue(Shdr{section_names.OffsetOf(wide_indices_name), format::kShtSymtabShndx, 0, 0,
                      wide_indices_offset, (symbols.size() + 1) * sizeof(std::uint32_t), 3, 0, 4,
                      4});
  }
  for (const SectionHandle handle : section_order) out.PutValue(HeaderOf(sections[Index(handle)]));
}

void CubinWriter::State::WriteSymbols(OutputBuffer& out) const {
  const auto section_of = [this](const SymbolState& symbol) {
    return symbol.section == kNoSection ? 0 : sections[Index(symbol.section)].index;
  };
  format::Sym null = {};
  null.value = null_symbol_value;
  out.PutValue(null);
  for (const SymbolHandle handle : symbol_order) {
    const SymbolState& symbol = symbols[Index(handle)];
    const std::uint32_t section = section_of(symbol);
    format::Sym sym = {};
    sym.name = symbol_names.OffsetOf(symbol.name_id);
    sym.info = symbol.info;
    sym.other = symbol.other;
    sym.shndx =
        static_cast<std::uint16_t>(section >= format::kShnLoReserve ? format::kShnXindex : section);
    sym.value = symbol.value;
    sym.size = symbol.size;
    out.PutValue(sym);
  }
  if (!header.wide_section_indices) return;
  out.PutValue(std::uint32_t{0});
  for (const SymbolHandle handle : symbol_order) {
    const SymbolState& symbol = symbols[Index(handle)];
    std::uint32_t wide = section_of(symbol);
    if (wide < format::kShnLoReserve && wide != 0) {
      const std::uint32_t number = sections[Index(symbol.section)].number;
      if (number != 0) wide = number;
    }
    out.PutValue(wide);
  }
}

}  // namespace devlink
