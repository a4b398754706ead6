// SPDX-License-Identifier: Apache-2.0
#include "assemble/tool_note.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "assemble/elf_tables.h"
#include "base/align.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/views.h"
#include "write/elf_layout.h"

namespace devlink::internal {

namespace {

using base::AlignUp;
using base::BoundedReader;

absl::Status Malformed(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the assembler's cubin is damaged: ",
                                                 absl::string_view(what.data(), what.size())));
}

struct Tables : ElfTables {
  std::optional<std::size_t> note;
};

bool ReadTables(const BoundedReader& file, Tables& out) {
  auto tables = ReadElfTables(file);
  if (!tables.has_value()) return false;
  static_cast<ElfTables&>(out) = *std::move(tables);
  for (std::size_t i = 1; i < out.sections.size(); ++i) {
    if (out.sections[i].type == format::kShtNote &&
        SectionName(file, out, i) == format::kToolNoteName) {
      out.note = i;
    }
  }
  return true;
}

std::uint64_t FileSize(const format::Shdr& section) {
  return format::HasBytes(section.type, section.flags) ? section.size : 0;
}

// What moving the sections relies on: bytes within the file, and alignments that are some.
bool AreSectionsSound(const BoundedReader& file, const Tables& tables) {
  // Each is looked for among all sections. Real files have three or four.
  constexpr std::size_t kMaxSegments = 64;
  if (tables.segments.size() > kMaxSegments) return false;
  for (std::size_t i = 1; i < tables.sections.size(); ++i) {
    const format::Shdr& section = tables.sections[i];
    if (section.type == format::kShtNull) continue;
    if (!file.Slice(section.offset, FileSize(section)).has_value()) return false;
    if (section.addralign > 1 &&
        (!base::IsPowerOfTwo(section.addralign) || section.addralign > format::kMaxAlign)) {
      return false;
    }
  }
  return true;
}

// Where the sections go once the note has its new size. Those that share bytes (sm_100 and later
// have some) move together.
class MovedSections {
 public:
  MovedSections(const Tables& tables, std::uint64_t file_size)
      : tables_(tables), file_size_(file_size) {}

  // The sections, moved; `note_size` is the note's new size.
  bool Place(std::uint64_t note_size) {
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < tables_.sections.size(); ++i) {
      if (tables_.sections[i].type != 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return tables_.sections[a].offset < tables_.sections[b].offset;
    });
    moved_ = tables_.sections;
    std::uint64_t old_end = sizeof(format::Ehdr);
    std::uint64_t old_begin = 0;  // of the bytes that came last, and where they went
    std::uint64_t new_begin = 0;
    for (const std::size_t i : order) {
      const format::Shdr& section = tables_.sections[i];
      const std::uint64_t size = FileSize(section);
      if (size > ~std::uint64_t{0} - section.offset) return false;
      format::Shdr& moved = moved_[i];
      if (i == *tables_.note) moved.size = note_size;
      if (section.offset < old_end) {
        if (i == *tables_.note) return false;
        moved.offset = new_begin + (section.offset - old_begin);
      } else {
        // Room that ptxas kept free stays free; within the file, so that it is no more than that.
        const bool has_gap =
            section.offset > AlignUp(old_end, section.addralign) && section.offset <= file_size_;
        moved.offset = layout_.Place(FileSize(moved), section.addralign,
                                     has_gap ? section.offset - old_end : 0);
        old_begin = section.offset;
        new_begin = moved.offset;
      }
      old_end = std::max(old_end, section.offset + size);
      layout_.ExtendTo(moved.offset + FileSize(moved));
    }
    return true;
  }

  // The new place of an old offset that begins or ends the bytes of a section.
  [[nodiscard]] std::optional<std::uint64_t> Begin(std::uint64_t offset) const {
    for (std::size_t i = 1; i < moved_.size(); ++i) {
      if (tables_.sections[i].offset == offset) return moved_[i].offset;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> End(std::uint64_t offset) const {
    for (std::size_t i = 1; i < moved_.size(); ++i) {
      if (tables_.sections[i].offset + FileSize(tables_.sections[i]) == offset) {
        return moved_[i].offset + FileSize(moved_[i]);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::vector<format::Shdr>& sections() const { return moved_; }
  [[nodiscard]] ElfTablePlaces tables() const {
    return layout_.PlaceTables(tables_.sections.size(), tables_.segments.size());
  }

 private:
  const Tables& tables_;
  std::uint64_t file_size_;
  std::vector<format::Shdr> moved_;
  ElfLayout layout_;
};

template <typename T>
void Put(std::vector<std::uint8_t>& out, std::uint64_t offset, const T& value) {
  std::memcpy(out.data() + offset, &value, sizeof(value));
}

// Segments cover sections, and the program headers themselves.
bool MoveSegments(const Tables& tables, const MovedSections& layout, std::uint64_t new_phoff,
                  std::vector<format::Phdr>& out) {
  out = tables.segments;
  for (format::Phdr& segment : out) {
    if (segment.offset == tables.header.phoff) {
      segment.offset = new_phoff;
      continue;
    }
    if (segment.filesz == 0) {
      segment.offset = layout.Begin(segment.offset).value_or(segment.offset);
      continue;
    }
    const auto begin = layout.Begin(segment.offset);
    const auto end = layout.End(segment.offset + segment.filesz);
    if (!begin.has_value() || !end.has_value() || *end < *begin) return false;
    const std::uint64_t growth = *end - *begin - segment.filesz;
    segment.offset = *begin;
    segment.filesz += growth;
    segment.memsz += growth;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<std::uint8_t>> ChangeToolRecords(
    std::vector<std::uint8_t> cubin, const std::function<void(format::ToolRecord&)>& change) {
  const BoundedReader file(cubin);
  Tables tables;
  if (!ReadTables(file, tables)) return Malformed("its tables lie outside the file");
  if (!tables.note.has_value()) return cubin;
  if (!AreSectionsSound(file, tables)) {
    return Malformed("a section lies outside the file, or has an alignment that is none");
  }
  const format::Shdr& section = tables.sections[*tables.note];
  const auto bytes = file.Slice(section.offset, section.size);
  if (!bytes.has_value()) return Malformed("its .note.nv.tkinfo lies outside the file");
  const auto records = format::ReadToolRecords(*bytes);
  if (!records.has_value()) return Malformed("its .note.nv.tkinfo cannot be read");
  std::vector<std::uint8_t> note;
  for (format::ToolRecord record : *records) {
    change(record);
    const std::vector<std::uint8_t> encoded = format::EncodeToolRecord(record);
    note.insert(note.end(), encoded.begin(), encoded.end());
  }
  if (std::equal(note.begin(), note.end(), bytes->begin(), bytes->end())) return cubin;

  MovedSections layout(tables, cubin.size());
  if (!layout.Place(note.size())) return Malformed("its .note.nv.tkinfo overlaps another section");
  format::Ehdr header = tables.header;
  const ElfTablePlaces places = layout.tables();
  header.shoff = places.section_headers;
  if (header.phnum != 0) header.phoff = places.program_headers;
  std::vector<format::Phdr> segments;
  if (!MoveSegments(tables, layout, header.phoff, segments)) {
    return Malformed("a segment does not begin and end with a section");
  }

  // What every section may ask for alone, all of them together may not.
  constexpr std::uint64_t kMaxGrowth = std::uint64_t{1} << 20;
  if (places.file_size > 2 * cubin.size() + note.size() + kMaxGrowth) {
    return Malformed("its sections are aligned so that it would grow many times");
  }
  std::vector<std::uint8_t> out(places.file_size, 0);
  Put(out, 0, header);
  for (std::size_t i = 1; i < tables.sections.size(); ++i) {
    const format::Shdr& moved = layout.sections()[i];
    if (i == *tables.note) {
      std::copy(note.begin(), note.end(), out.begin() + static_cast<std::ptrdiff_t>(moved.offset));
      continue;
    }
    const auto content = file.Slice(tables.sections[i].offset, FileSize(tables.sections[i]));
    if (!content.has_value()) return Malformed("a section lies outside the file");
    std::copy(content->begin(), content->end(),
              out.begin() + static_cast<std::ptrdiff_t>(moved.offset));
  }
  for (std::size_t i = 0; i < tables.sections.size(); ++i) {
    Put(out, header.shoff + i * sizeof(format::Shdr), layout.sections()[i]);
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Put(out, header.phoff + i * sizeof(format::Phdr), segments[i]);
  }
  return out;
}

}  // namespace devlink::internal
