// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of an ELF file lie, as the CUDA tools have it: the file header, the sections in
// the order of their indices, the section headers, the program headers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/align.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

struct ElfTablePlaces {
  std::uint64_t section_headers = 0;
  std::uint64_t program_headers = 0;
  std::uint64_t file_size = 0;
};

class ElfLayout {
 public:
  // The offset of the next section. One without bytes in the file has size 0 here and is aligned
  // like the others. `gap` bytes are left unused in front of it.
  std::uint64_t Place(std::uint64_t size, std::uint64_t align, std::uint64_t gap = 0) {
    const std::uint64_t offset = base::AlignUp(end_ + gap, align);
    end_ = offset + size;
    return offset;
  }

  // A section that shares bytes with one that was placed may end behind it.
  void ExtendTo(std::uint64_t end) { end_ = std::max(end_, end); }

  // Behind all sections placed so far.
  [[nodiscard]] std::uint64_t end() const { return end_; }

  [[nodiscard]] ElfTablePlaces PlaceTables(std::uint64_t section_headers,
                                           std::uint64_t program_headers) const {
    ElfTablePlaces out;
    out.section_headers = base::AlignUp(end_, 8);
    out.program_headers = out.section_headers + section_headers * sizeof(format::Shdr);
    out.file_size = out.program_headers + program_headers * sizeof(format::Phdr);
    return out;
  }

 private:
  std::uint64_t end_ = sizeof(format::Ehdr);
};

}  // namespace devlink::internal
