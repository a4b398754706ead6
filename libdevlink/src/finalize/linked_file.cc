// SPDX-License-Identifier: Apache-2.0
#include "finalize/linked_file.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

constexpr std::uint32_t kStringTable = 2;
constexpr std::uint32_t kSymbolTable = 3;

absl::Status Strange(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the file of the finalizer is not laid out as expected: ", base::ToAbsl(what)));
}

template <typename T>
bool ReadAll(base::Bytes file, std::uint64_t offset, std::uint64_t count, std::vector<T>& out) {
  const base::BoundedReader reader(file);
  if (count > file.size() / sizeof(T) || !reader.Slice(offset, count * sizeof(T))) return false;
  out.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = reader.ReadOrZero<T>(offset + i * sizeof(T));
  }
  return true;
}

template <typename T>
void Put(std::vector<std::uint8_t>& out, std::uint64_t offset, std::span<const T> values) {
  if (!values.empty()) std::memcpy(out.data() + offset, values.data(), values.size_bytes());
}

bool IsMercury(const format::Shdr& header) {
  return format::IsMercurySection(static_cast<std::uint32_t>(header.flags));
}

}  // namespace

absl::StatusOr<LinkedFile> LinkedFile::Read(base::Bytes file) {
  LinkedFile out;
  out.file_ = file;
  DEVLINK_RETURN_IF_ERROR(out.ReadTables());
  DEVLINK_RETURN_IF_ERROR(out.CheckLayout());
  return out;
}

absl::Status LinkedFile::ReadTables() {
  const base::BoundedReader reader(file_);
  if (!reader.Read(0, header_) || !format::HasElfMagic(header_) ||
      header_.machine != format::kMachineCuda ||
      header_.ident[format::kIdentClass] != format::kClass64 ||
      header_.shentsize != sizeof(format::Shdr)) {
    return Strange("it is not a cubin");
  }
  const std::uint64_t count =
      format::SectionCountOf(header_, reader.ReadOrZero<format::Shdr>(header_.shoff));
  if (count <= kSymbolTable || !ReadAll(file_, header_.shoff, count, headers_)) {
    return Strange("its section headers are not in it");
  }
  if (headers_[0].type != format::kShtNull) return Strange("its first section is one");
  if (header_.phnum != 0 && (header_.phentsize != sizeof(format::Phdr) ||
                             !ReadAll(file_, header_.phoff, header_.phnum, segments_))) {
    return Strange("its program headers are not in it");
  }
  if (header_.shstrndx != 1 || headers_[kSymbolTable].type != format::kShtSymtab ||
      headers_[kSymbolTable].link != kStringTable) {
    return Strange("its tables of names and symbols have other places");
  }
  for (std::uint32_t i = 1; i < section_count(); ++i) {
    const format::Shdr& header = headers_[i];
    const bool is_aligned = header.addralign == 0 || base::IsPowerOfTwo(header.addralign);
    if (!is_aligned || header.addralign > format::kMaxAlign) return Strange("an alignment");
    if (HasBytes(i) && !reader.Slice(header.offset, header.size)) {
      return Strange("a section is not in it");
    }
  }
  replaced_.resize(headers_.size());
  return absl::OkStatus();
}

// In front of `.symtab` is room for names that constants have in the Mercury view and not in
// machine code (docs/mercury.md, "The file").
std::uint64_t LinkedFile::RoomOfConstants() const {
  namespace names = format::section_name;
  struct Row {
    std::string_view name;
    std::uint64_t room;
  };
  constexpr Row kRows[] = {{names::kUserConstants, 3},
                           {names::kPointerTable, 2},
                           {names::kOptimizerConstants, 8},
                           {names::kImageConstants, 25}};
  std::uint64_t out = 0;
  for (std::uint32_t i = 1; i < section_count(); ++i) {
    std::string_view name = NameOf(i);
    if (!name.starts_with(names::kMercuryPrefix)) continue;
    name.remove_prefix(names::kMercuryPrefix.size());
    if (name.starts_with(names::kMercuryConstantRela)) out += name.size();
    for (const Row& row : kRows) {
      if (name.starts_with(row.name)) out += row.room;
    }
  }
  return out;
}

// What LayOut gives before anything is replaced must be where everything is.
absl::Status LinkedFile::CheckLayout() {
  room_before_symbols_ = RoomOfConstants();
  shares_with_.assign(headers_.size(), 0);
  base::HashMap<std::uint64_t, std::uint32_t> at;
  std::uint64_t cursor = sizeof(format::Ehdr);
  for (std::uint32_t i = 1; i < section_count(); ++i) {
    const format::Shdr& header = headers_[i];
    if (i == kSymbolTable && header.offset >= cursor &&
        header.offset != base::AlignUp(cursor + RoomBefore(i), header.addralign)) {
      room_before_symbols_ = header.offset - cursor;
      keeps_strings_ = true;
    }
    const std::uint64_t natural = base::AlignUp(cursor + RoomBefore(i), header.addralign);
    if (header.offset != natural) {
      const auto other = HasBytes(i) ? at.find(header.offset) : at.end();
      if (other == at.end()) {
        return Strange(base::Cat({"section '", NameOf(i), "' lies elsewhere"}));
      }
      shares_with_[i] = other->second;
      if (header.size > headers_[other->second].size) return Strange("a section shares too much");
      continue;
    }
    // Of several at one place the one that is not empty.
    if (HasBytes(i) && header.size != 0) {
      at[header.offset] = i;
    } else if (HasBytes(i)) {
      at.try_emplace(header.offset, i);
    }
    cursor = natural + SizeOf(i);
  }
  const Layout layout = LayOut();
  const bool has_segments = header_.phnum != 0;
  if (layout.headers != header_.shoff || (has_segments && layout.segments != header_.phoff) ||
      layout.end != file_.size()) {
    return Strange("its headers lie elsewhere");
  }
  std::vector<format::Phdr> segments;
  return MoveSegments(layout, segments);
}

std::string_view LinkedFile::NameOf(std::uint32_t section) const {
  const format::Shdr& names = headers_[header_.shstrndx];
  const auto table = base::BoundedReader(file_).Slice(names.offset, names.size);
  if (!table) return {};
  return base::BoundedReader(*table).CString(headers_[section].name).value_or("");
}

base::Bytes LinkedFile::DataOf(std::uint32_t section) const {
  if (!HasBytes(section)) return {};
  const format::Shdr& header = headers_[section];
  return base::BoundedReader(file_).Slice(header.offset, header.size).value_or(base::Bytes());
}

void LinkedFile::Replace(std::uint32_t section, std::vector<std::uint8_t> bytes) {
  replaced_[section] = std::move(bytes);
}

bool LinkedFile::HasBytes(std::uint32_t section) const {
  return format::HasBytes(headers_[section].type, headers_[section].flags);
}

std::uint64_t LinkedFile::SizeOf(std::uint32_t section) const {
  if (!HasBytes(section)) return 0;
  return replaced_[section] ? replaced_[section]->size() : headers_[section].size;
}

std::uint64_t LinkedFile::RoomBefore(std::uint32_t section) const {
  if (section == kStringTable) return format::kRoomBehindSectionNames;
  return section == kSymbolTable ? room_before_symbols_ : 0;
}

LinkedFile::Layout LinkedFile::LayOut() const {
  constexpr std::uint64_t kHeaderAlign = 8;
  Layout out;
  out.offsets.resize(headers_.size());
  std::uint64_t cursor = sizeof(format::Ehdr);
  for (std::uint32_t i = 1; i < section_count(); ++i) {
    if (shares_with_[i] != 0) {
      out.offsets[i] = out.offsets[shares_with_[i]];
      continue;
    }
    out.offsets[i] = base::AlignUp(cursor + RoomBefore(i), headers_[i].addralign);
    cursor = out.offsets[i] + SizeOf(i);
  }
  out.headers = base::AlignUp(cursor, kHeaderAlign);
  out.segments = out.headers + headers_.size() * sizeof(format::Shdr);
  out.end = out.segments + segments_.size() * sizeof(format::Phdr);
  return out;
}

absl::Status LinkedFile::MoveSegments(const Layout& layout, std::vector<format::Phdr>& out) const {
  out = segments_;
  for (format::Phdr& segment : out) {
    if (segment.offset == header_.phoff) {
      segment.offset = layout.segments;
    } else {
      DEVLINK_RETURN_IF_ERROR(MoveSegment(layout, segment));
    }
  }
  return absl::OkStatus();
}

// A segment goes from its first section to its last. In the file that is where the last one ends
// or, where it has no bytes, begins.
absl::Status LinkedFile::MoveSegment(const Layout& layout, format::Phdr& segment) const {
  constexpr std::uint32_t kExecutable = 1;
  constexpr std::uint32_t kWritable = 2;
  const auto is_in = [&](std::uint32_t section) {
    const format::Shdr& header = headers_[section];
    return (header.flags & format::kShfAlloc) != 0 && !IsMercury(header) &&
           ((header.flags & format::kShfExec) != 0) == ((segment.flags & kExecutable) != 0) &&
           ((header.flags & format::kShfWrite) != 0) == ((segment.flags & kWritable) != 0);
  };
  const auto end_of = [&](std::uint32_t section, std::uint64_t offset) {
    return offset + SizeOf(section);
  };
  std::optional<std::uint32_t> first;
  std::optional<std::uint32_t> last;
  for (std::uint32_t i = 1; i < section_count(); ++i) {
    if (!is_in(i)) continue;
    const format::Shdr& header = headers_[i];
    if (!first && header.offset == segment.offset) first = i;
    const std::uint64_t end = header.offset + (HasBytes(i) ? header.size : 0);
    if (first && end == segment.offset + segment.filesz) last = i;
  }
  if (!first || !last) return Strange("a segment does not begin or end with a section");
  const std::uint64_t size = end_of(*last, layout.offsets[*last]) - layout.offsets[*first];
  segment.memsz += size - segment.filesz;
  segment.filesz = size;
  segment.offset = layout.offsets[*first];
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::uint8_t>> LinkedFile::Write() const {
  if (keeps_strings_ && replaced_[kStringTable]) return Strange("the room behind its names");
  const Layout layout = LayOut();
  std::vector<format::Phdr> segments;
  DEVLINK_RETURN_IF_ERROR(MoveSegments(layout, segments));
  std::vector<std::uint8_t> out(layout.end);
  std::vector<format::Shdr> headers = headers_;
  for (std::uint32_t i = 1; i < section_count(); ++i) {
    headers[i].offset = layout.offsets[i];
    if (HasBytes(i)) headers[i].size = shares_with_[i] == 0 ? SizeOf(i) : headers_[i].size;
    if (shares_with_[i] != 0 || !HasBytes(i)) continue;
    Put<std::uint8_t>(out, layout.offsets[i],
                      replaced_[i] ? base::Bytes(*replaced_[i]) : DataOf(i));
  }
  format::Ehdr header = header_;
  header.shoff = layout.headers;
  if (header_.phnum != 0) header.phoff = layout.segments;
  Put<format::Ehdr>(out, 0, std::span(&header, 1));
  Put<format::Shdr>(out, layout.headers, headers);
  Put<format::Phdr>(out, layout.segments, segments);
  return out;
}

}  // namespace devlink::internal
