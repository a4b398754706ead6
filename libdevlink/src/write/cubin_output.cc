// SPDX-License-Identifier: Apache-2.0
//
// Writes what a CubinWriter laid out, from the first byte of the file to the last.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/guard.h"
#include "base/status_macros.h"
#include "format/sections.h"
#include "format/views.h"
#include "write/cubin_state.h"

namespace devlink {

using format::Phdr;
using format::Shdr;
using internal::Content;
using internal::Index;
using internal::kNoInfo;
using internal::kNoRun;
using internal::OutputBuffer;
using internal::PatchState;
using internal::Run;
using internal::SectionState;
using internal::SymbolState;
using internal::SymbolTableState;

namespace {

void StoreBits(std::uint8_t* at, BitField field, std::uint64_t value) {
  static_assert(std::endian::native == std::endian::little);
  if (field.position % 8 == 0 && field.width % 8 == 0) {  // most are whole bytes
    std::memcpy(at + field.position / 8, &value, field.width / 8);
    return;
  }
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
  return base::Guard([&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    MemorySink sink;
    DEVLINK_RETURN_IF_ERROR(WriteTo(sink));
    return std::move(sink.bytes);
  });
}

absl::Status CubinWriter::WriteTo(OutputSink& sink) {
  return base::Guard([&]() -> absl::Status {
    DEVLINK_ASSIGN_OR_RETURN(const std::uint64_t size, LayOut());
    DEVLINK_RETURN_IF_ERROR(sink.Begin(size));
    OutputBuffer out(sink, size);
    state_->WriteFile(out);
    return out.Finish();
  });
}

void CubinWriter::State::WriteFile(OutputBuffer& out) const {
  out.PutValue(FileHeader());
  for (const SectionHandle handle : section_order) {
    const SectionState& section = sections[Index(handle)];
    if (!format::HasBytes(section.type, section.flags)) continue;
    WriteSection(section, out);
  }
  out.ZeroesTo(section_headers);
  Shdr null = {};
  if (section_count() > format::kShnLoReserve) null.size = section_count();
  out.PutValue(null);
  for (const SectionHandle handle : section_order) out.PutValue(HeaderOf(sections[Index(handle)]));
  for (const Phdr& segment : segments) out.PutValue(segment);
}

void CubinWriter::State::WriteSection(const SectionState& section, OutputBuffer& out) const {
  if (section.content == Content::kShared) return;
  out.ZeroesTo(section.file_offset);
  switch (section.content) {
    case Content::kStrings:
      return strings[section.table].Write(out);
    case Content::kSymbols:
      return WriteSymbols(symbol_tables[section.table], out);
    case Content::kWideIndices:
      return WriteWideIndices(*TableOf(section), out);
    default:
      return section.first_patches == kNoRun ? WriteContents(section, out)
                                             : WritePatched(section, out);
  }
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

std::uint32_t CubinWriter::State::FileFlags() const {
  if (header.flags.has_value()) return *header.flags;
  std::uint32_t note = 0;
  for (const SectionState& section : sections) {
    if (NameOf(section) == format::section_name::kCudaNote) note = section.index;
  }
  return format::MakeElfFlags(note, header.sm, format::ElfFlagsLowByte(header.sm));
}

format::Ehdr CubinWriter::State::FileHeader() const {
  format::Ehdr ehdr = {};
  const std::array<std::uint8_t, 9> ident = {
      0x7f, 'E', 'L', 'F', 2, 1, 1, format::kOsAbiCuda, format::kAbiVersion};
  std::copy(ident.begin(), ident.end(), ehdr.ident);
  ehdr.type = header.executable ? format::kTypeExec : format::kTypeRel;
  ehdr.machine = format::kMachineCuda;
  ehdr.version = 1;
  ehdr.phoff = segments.empty() ? 0 : program_headers;
  ehdr.shoff = section_headers;
  ehdr.flags = FileFlags();
  ehdr.ehsize = sizeof(format::Ehdr);
  ehdr.phentsize = segments.empty() ? header.unused_program_header_size : sizeof(Phdr);
  ehdr.phnum = static_cast<std::uint16_t>(segments.size());
  ehdr.shentsize = sizeof(Shdr);
  // Past 0xff00 the number stands in the null section's size.
  ehdr.shnum =
      section_count() > format::kShnLoReserve ? 0 : static_cast<std::uint16_t>(section_count());
  ehdr.shstrndx = static_cast<std::uint16_t>(sections[Index(kSectionNameTable)].index);
  return ehdr;
}

format::Shdr CubinWriter::State::HeaderOf(const SectionState& section) const {
  Shdr out = {};
  out.name = section_names().OffsetOf(section.name_id);
  out.type = section.type;
  out.flags = section.flags;
  out.offset = section.file_offset;
  out.size = section.size;
  out.addralign = section.align();
  out.entsize = section.entry_size;
  if (section.link != kNoSection) out.link = sections[Index(section.link)].index;
  if (section.content == Content::kSymbols) out.info = symbol_tables[section.table].info;
  if (section.info != kNoInfo) {
    out.info = section.info_is_symbol
                   ? std::uint32_t{section.registers} << 24 | symbols[section.info].index
                   : sections[section.info].index;
  }
  return out;
}

void CubinWriter::State::WriteSymbols(const SymbolTableState& table, OutputBuffer& out) const {
  format::Sym null = {};
  null.value = table.null_value;
  out.PutValue(null);
  for (const SymbolHandle handle : table.symbols) {
    const SymbolState& symbol = symbols[Index(handle)];
    const std::uint32_t section = SectionIndexOf(symbol);
    format::Sym sym = {};
    sym.name = strings[table.strings].OffsetOf(symbol.name_id);
    sym.info = symbol.info;
    sym.other = symbol.other;
    sym.shndx =
        static_cast<std::uint16_t>(section >= format::kShnLoReserve ? format::kShnXindex : section);
    sym.value = symbol.value;
    sym.size = symbol.size;
    out.PutValue(sym);
  }
}

void CubinWriter::State::WriteWideIndices(const SymbolTableState& table, OutputBuffer& out) const {
  out.PutValue(std::uint32_t{0});
  for (const SymbolHandle handle : table.symbols) {
    const SymbolState& symbol = symbols[Index(handle)];
    std::uint32_t wide = SectionIndexOf(symbol);
    if (wide < format::kShnLoReserve && wide != 0) {
      const std::uint32_t number = sections[Index(symbol.section)].wide_index;
      if (number != internal::kNoInfo) wide = number;
    }
    out.PutValue(wide);
  }
}

}  // namespace devlink
