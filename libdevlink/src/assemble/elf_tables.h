// SPDX-License-Identifier: Apache-2.0
//
// The tables of an assembled cubin, as far as the assemblers' results are looked into here.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

struct ElfTables {
  format::Ehdr header{};
  std::vector<format::Shdr> sections;
  std::vector<format::Phdr> segments;
  std::size_t names = 0;  // the section with the names of the others
};

// Nothing where `file` is not an ELF file or ends before its tables do.
std::optional<ElfTables> ReadElfTables(const base::BoundedReader& file);

// Nothing where the name lies outside its table or the file.
std::optional<std::string_view> SectionName(const base::BoundedReader& file,
                                            const ElfTables& tables, std::size_t section);

}  // namespace devlink::internal
