// SPDX-License-Identifier: Apache-2.0
#include "assemble/elf_tables.h"

#include <cstdint>

namespace devlink::internal {

std::optional<ElfTables> ReadElfTables(const base::BoundedReader& file) {
  ElfTables out;
  if (!file.Read(0, out.header) || out.header.ident[0] != 0x7f || out.header.ident[1] != 'E') {
    return std::nullopt;
  }
  format::Shdr first{};
  if (!file.Read(out.header.shoff, first)) return std::nullopt;
  const std::uint64_t count = format::SectionCountOf(out.header, first);
  out.names = format::SectionNamesOf(out.header, first);
  if (count > file.size() / sizeof(format::Shdr) || out.names >= count) return std::nullopt;
  out.sections.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!file.Read(out.header.shoff + i * sizeof(format::Shdr), out.sections[i])) {
      return std::nullopt;
    }
  }
  out.segments.resize(out.header.phnum);
  for (std::uint64_t i = 0; i < out.segments.size(); ++i) {
    if (!file.Read(out.header.phoff + i * sizeof(format::Phdr), out.segments[i])) {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::string_view> SectionName(const base::BoundedReader& file,
                                            const ElfTables& tables, std::size_t section) {
  const format::Shdr& names = tables.sections[tables.names];
  const std::uint64_t at = tables.sections[section].name;
  if (at >= names.size) return std::nullopt;
  return file.CString(names.offset + at);
}

}  // namespace devlink::internal
