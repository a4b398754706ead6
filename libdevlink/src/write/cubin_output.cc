// SPDX-License-Identifier: Apache-2.0
//
// Writes what a CubinWriter laid out, from the first byte of the file to the last.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "base/guard.h"
#include "base/make_in_order.h"
#include "base/status_macros.h"
#include "base/workers.h"
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

// A stretch of the file in memory that others were in before.
struct MadeStretch {
  std::span<std::uint8_t> Take(std::uint64_t size) {
    if (size > capacity) {
      place = std::make_unique_for_overwrite<std::uint8_t[]>(size);
      capacity = size;
    }
    used = size;
    return {place.get(), size};
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {place.get(), used}; }

  std::unique_ptr<std::uint8_t[]> place;
  std::uint64_t capacity = 0;
  std::uint64_t used = 0;
  absl::Status status;
};

}  // namespace

absl::StatusOr<std::vector<std::uint8_t>> CubinWriter::Write() {
  return base::Guard([&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    DEVLINK_ASSIGN_OR_RETURN(const std::uint64_t size, LayOut());
    std::vector<std::uint8_t> bytes(size);
    OutputBuffer out(bytes, 0);
    state_->WriteStretch(state_->WholeFile(), out);
    DEVLINK_RETURN_IF_ERROR(out.Finish());
    return bytes;
  });
}

absl::Status CubinWriter::WriteTo(OutputSink& sink) {
  return base::Guard([&]() -> absl::Status {
    DEVLINK_ASSIGN_OR_RETURN(const std::uint64_t size, LayOut());
    DEVLINK_RETURN_IF_ERROR(sink.Begin(size));
    OutputBuffer out(sink, size);
    state_->WriteStretch(state_->WholeFile(), out);
    return out.Finish();
  });
}

absl::Status CubinWriter::WriteTo(OutputSink& sink, const Environment& environment,
                                  unsigned workers) {
  return base::Guard([&]() -> absl::Status {
    DEVLINK_ASSIGN_OR_RETURN(const std::uint64_t size, LayOut());
    const std::vector<State::Stretch> stretches = state_->Stretches();
    // The sink takes about as long for a stretch as it takes to make one.
    constexpr std::size_t kMostWorkers = 3;
    workers = base::WorkersFor(std::min(stretches.size(), kMostWorkers), workers, environment);
    if (workers <= 1) return WriteTo(sink);
    DEVLINK_RETURN_IF_ERROR(sink.Begin(size));
    const auto make = [&](std::size_t i, MadeStretch& made) {
      const State::Stretch& stretch = stretches[i];
      if (!stretch.is_ahead) return;
      OutputBuffer out(made.Take(stretch.end - stretch.begin), stretch.begin);
      state_->WriteStretch(stretch, out);
      made.status = out.Finish();
    };
    const auto take = [&](std::size_t i, MadeStretch& made) -> absl::Status {
      const State::Stretch& stretch = stretches[i];
      if (stretch.is_ahead) {
        DEVLINK_RETURN_IF_ERROR(made.status);
        return made.bytes().empty() ? absl::OkStatus() : sink.Append(made.bytes());
      }
      OutputBuffer out(sink, size, stretch.begin);
      state_->WriteStretch(stretch, out);
      return out.Finish();
    };
    return base::MakeInOrder<MadeStretch>(environment, workers, stretches.size(), make, take);
  });
}

std::vector<CubinWriter::State::Stretch> CubinWriter::State::Stretches() const {
  constexpr std::uint64_t kEnough = 1 << 18;  // stays in the cache until the sink has it
  constexpr std::uint64_t kTooMuch = 2 << 20;
  std::vector<Stretch> out = {{}};
  std::uint64_t position = sizeof(format::Ehdr);
  const auto begin_at = [&](std::size_t section) {
    out.back().last = section;
    out.back().end = position;
    out.push_back({.first = section, .last = section, .begin = position});
  };
  for (std::size_t i = 0; i < section_order.size(); ++i) {
    const SectionState& section = sections[Index(section_order[i])];
    if (!format::HasBytes(section.type, section.flags)) continue;
    if (section.content == Content::kShared) continue;
    const bool is_plain = section.content == Content::kRuns && section.first_patches == kNoRun;
    // With the zeroes in front of it.
    const std::uint64_t bytes = section.file_offset + section.size - position;
    const bool is_ahead = bytes < (is_plain ? kEnough : kTooMuch);
    if (!is_ahead || position - out.back().begin >= kEnough) begin_at(i);
    out.back().is_ahead = is_ahead;
    position = section.file_offset + section.size;
    if (!is_ahead) begin_at(i + 1);
  }
  out.back().last = section_order.size();
  out.back().end = file_size;
  out.back().is_last = true;
  out.back().is_ahead = file_size - out.back().begin < kTooMuch;
  return out;
}

void CubinWriter::State::WriteStretch(const Stretch& stretch, OutputBuffer& out) const {
  if (stretch.begin == 0) out.PutValue(FileHeader());
  for (std::size_t i = stretch.first; i < stretch.last; ++i) {
    const SectionState& section = sections[Index(section_order[i])];
    if (format::HasBytes(section.type, section.flags)) WriteSection(section, out);
  }
  if (!stretch.is_last) return;
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
