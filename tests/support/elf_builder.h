// SPDX-License-Identifier: Apache-2.0
//
// Makes the files that tests of inputs need: ELF files of any class and byte order, and archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace devlink::testing {

using ByteVector = std::vector<std::uint8_t>;

struct ElfSection {
  std::string name;
  std::string contents;
  std::uint32_t type = 1;  // SHT_PROGBITS
};

struct ElfShape {
  bool wide = true;  // 64-bit
  bool big_endian = false;
  std::uint16_t machine = 62;  // x86-64
  std::uint16_t type = 1;      // ET_REL
};

ByteVector BuildElf(const std::vector<ElfSection>& sections, const ElfShape& shape = {});

// An object as nvcc makes it: `fatbin` in __nv_relfatbin, a wrapper, the module id, and sections
// such as `.nvHRKE` besides.
ByteVector BuildHostObject(const std::string& fatbin, const std::string& module_id = "_id_1",
                           const ElfShape& shape = {}, const std::vector<ElfSection>& more = {});

// An archive in GNU format; short names only.
using ArchiveContents = std::vector<std::pair<std::string, ByteVector>>;
ByteVector BuildArchive(const ArchiveContents& members);
// Members by name and size.
ByteVector BuildThinArchive(const std::vector<std::pair<std::string, std::size_t>>& members);

ByteVector ToBytes(const std::string& text);
std::string ToText(const ByteVector& bytes);

// A container with the right magic and nothing else.
std::string EmptyFatbin();

}  // namespace devlink::testing
