// SPDX-License-Identifier: Apache-2.0
#include "input/host_elf.h"

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

namespace {

// Where fields stand in files of either class.
struct Shape {
  std::uint64_t header;  // bytes in all
  std::uint64_t table;   // e_shoff
  std::uint64_t entry_size;
  std::uint64_t count;
  std::uint64_t names;

  std::uint64_t section;  // bytes of a section header
  std::uint64_t section_offset;
  std::uint64_t section_size;
  std::uint64_t section_link;
};
constexpr Shape kShape32 = {52, 32, 46, 48, 50, 40, 16, 20, 24};
constexpr Shape kShape64 = {sizeof(format::Ehdr),
                            offsetof(format::Ehdr, shoff),
                            offsetof(format::Ehdr, shentsize),
                            offsetof(format::Ehdr, shnum),
                            offsetof(format::Ehdr, shstrndx),
                            sizeof(format::Shdr),
                            offsetof(format::Shdr, offset),
                            offsetof(format::Shdr, size),
                            offsetof(format::Shdr, link)};
constexpr std::uint64_t kNameOffset = 0;
constexpr std::uint64_t kTypeOffset = 4;

absl::Status Damaged(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("damaged ELF: ", what));
}

}  // namespace

template <typename T>
T HostElf::Number(std::uint64_t offset) const {
  const T stored = reader_.ReadOrZero<T>(offset);
  if (!big_endian_) return stored;
  T turned = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    turned = static_cast<T>(turned << 8 | (stored >> (8 * i) & 0xff));
  }
  return turned;
}

std::uint64_t HostElf::Word(std::uint64_t offset) const {
  return wide_ ? Number<std::uint64_t>(offset) : Number<std::uint32_t>(offset);
}

absl::StatusOr<HostElf> HostElf::Open(base::Bytes bytes) {
  HostElf file(bytes);
  const auto elf_class = file.reader_.ReadOrZero<std::uint8_t>(format::kIdentClass);
  const auto data = file.reader_.ReadOrZero<std::uint8_t>(format::kIdentData);
  file.wide_ = elf_class == format::kClass64;
  file.big_endian_ = data == format::kDataBig;
  if ((!file.wide_ && elf_class != format::kClass32) ||
      (!file.big_endian_ && data != format::kDataLittle)) {
    return Damaged(absl::StrCat("class ", elf_class, ", byte order ", data, " at offset 4"));
  }
  DEVLINK_RETURN_IF_ERROR(file.ReadTable());
  DEVLINK_RETURN_IF_ERROR(file.ReadNames());
  return file;
}

absl::Status HostElf::ReadTable() {
  const Shape& shape = wide_ ? kShape64 : kShape32;
  if (reader_.size() < shape.header) {
    return Damaged(absl::StrCat("its ", reader_.size(), " bytes are fewer than a header has"));
  }
  table_ = Word(shape.table);
  if (table_ == 0) return Damaged("there is no table of sections");
  const auto entry_size = Number<std::uint16_t>(shape.entry_size);
  if (entry_size != shape.section) {
    return Damaged(absl::StrCat("section headers of ", entry_size, " bytes"));
  }
  // ptxas 13.5 does not align it.
  if (!reader_.Slice(table_, shape.section)) {
    return Damaged(absl::StrCat("the table of sections cannot be at offset ", table_));
  }
  // From 0xff00 sections on the number stands in the first one's header.
  section_count_ = Number<std::uint16_t>(shape.count);
  if (section_count_ == 0) section_count_ = SectionAt(0).size;
  if (section_count_ > reader_.size() / shape.section ||
      !reader_.Slice(table_, section_count_ * shape.section)) {
    return Damaged(absl::StrCat("the table of ", section_count_, " sections at offset ", table_,
                                " ends behind the file of ", reader_.size(), " bytes"));
  }
  return absl::OkStatus();
}

absl::Status HostElf::ReadNames() {
  names_index_ = Number<std::uint16_t>((wide_ ? kShape64 : kShape32).names);
  if (names_index_ == format::kShnXindex) {
    if (section_count_ == 0) return Damaged("the table of sections is empty");
    names_index_ = SectionAt(0).link;
  }
  if (names_index_ == 0) return absl::OkStatus();
  if (names_index_ >= section_count_) {
    return Damaged(absl::StrCat("the names of sections should stand in section ", names_index_,
                                " of ", section_count_));
  }
  const HostSection section = SectionAt(names_index_);
  const auto names = reader_.Slice(section.offset, section.size);
  if (section.type != format::kShtStrtab || !names || names->empty() || names->back() != 0) {
    return Damaged(absl::StrCat("section ", names_index_, " is not a table of names"));
  }
  names_ = {reinterpret_cast<const char*>(names->data()), names->size()};
  return absl::OkStatus();
}

HostSection HostElf::SectionAt(std::uint64_t index) const {
  const Shape& shape = wide_ ? kShape64 : kShape32;
  const std::uint64_t at = table_ + index * shape.section;
  return {.name = Number<std::uint32_t>(at + kNameOffset),
          .type = Number<std::uint32_t>(at + kTypeOffset),
          .offset = Word(at + shape.section_offset),
          .size = Word(at + shape.section_size),
          .link = Number<std::uint32_t>(at + shape.section_link)};
}

}  // namespace devlink::internal
