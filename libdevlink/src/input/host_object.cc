// SPDX-License-Identifier: Apache-2.0
#include "input/host_object.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "format/elf_cuda.h"
#include "format/host_references.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Error.h"

namespace devlink::internal {

namespace {

using llvm::object::ELFFile;

constexpr std::string_view kPrelinkedMark = "def ";

// Says where in LLVM's own words, and leaves no error behind that somebody must look at.
absl::Status Malformed(llvm::Error error) {
  return absl::InvalidArgumentError(
      absl::StrCat("damaged ELF: ", llvm::toString(std::move(error))));
}

std::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }
std::string_view View(base::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A section's name, or as much of it as no name that we look for has: where every section names the
// same megabytes, nobody has to walk through them each time.
std::string_view NameAt(std::string_view table, std::size_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view name = table.substr(offset, 24);
  return name.substr(0, name.find('\0'));
}

// The strings of a section; the last one may lack its NUL.
std::vector<std::string_view> Strings(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

ModuleIds ParseModuleIds(std::string_view text) {
  ModuleIds out;
  out.present = true;
  std::vector<std::string_view> strings = Strings(text);
  if (strings.empty()) strings.emplace_back();
  // The first string decides; behind an id of its own, `def x` is an id like any other.
  const bool prelinked = strings.front().starts_with(kPrelinkedMark);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const std::string_view text_of = strings[i];
    if (i > 0 && text_of.empty()) continue;  // padding of sections that were put together
    if (!prelinked) {
      out.own.push_back(text_of);
    } else if (text_of.starts_with(kPrelinkedMark)) {
      out.prelinked.push_back(text_of.substr(kPrelinkedMark.size()));
    } else {
      out.mixed = true;
    }
  }
  return out;
}

template <typename ElfType>
absl::StatusOr<HostObject> Read(base::Bytes bytes) {
  const std::string_view text = View(bytes);
  auto file = ELFFile<ElfType>::create(llvm::StringRef(text.data(), text.size()));
  if (!file) return Malformed(file.takeError());
  auto sections = file->sections();
  if (!sections) return Malformed(sections.takeError());

  if (file->getHeader().e_shoff == 0) {
    return absl::InvalidArgumentError("damaged ELF: there is no table of sections");
  }
  auto table = file->getSectionStringTable(*sections);
  if (!table) return Malformed(table.takeError());

  HostObject out;
  out.nameless = table->empty();
  // Its number stands in the first section's header where the file's has no room for it.
  std::uint32_t names_index = file->getHeader().e_shstrndx;
  if (names_index == llvm::ELF::SHN_XINDEX) names_index = sections->front().sh_link;
  const auto* names_section = names_index < sections->size() ? &(*sections)[names_index] : nullptr;
  out.big_endian = ElfType::Endianness != llvm::endianness::little;
  for (const auto& section : *sections) {
    if (section.sh_type == llvm::ELF::SHT_NULL) continue;
    if (section.sh_name >= table->size() && !table->empty()) {
      return absl::InvalidArgumentError(absl::StrCat("damaged ELF: a section's name stands at ",
                                                     std::uint32_t{section.sh_name},
                                                     " in a table of ", table->size(), " bytes"));
    }
    const std::string_view name = NameAt(View(*table), section.sh_name);
    if (&section == names_section) {
      out.names_doubtful = name != ".shstrtab" && name != ".strtab";
    }
    if (name == ".nvFatBinSegment") {
      out.has_wrapper = true;
      continue;
    }
    if (name == ".nv_fatbin") {
      out.has_whole_program_code = true;
      continue;
    }
    HostReferences::List* references = FindList(out.references, name);
    const bool fatbin = name == "__nv_relfatbin";
    const bool ids = name == "__nv_module_id";
    if (references == nullptr && !fatbin && !ids) continue;

    base::Bytes contents;
    if (section.sh_type != llvm::ELF::SHT_NOBITS) {
      // Not by LLVM's own reader, which asks more of a section than that it lies in the file.
      const auto slice = base::BoundedReader(bytes).Slice(section.sh_offset, section.sh_size);
      if (!slice.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "damaged ELF: section ", std::string(name), " of ", std::uint64_t{section.sh_size},
            " bytes at offset ", std::uint64_t{section.sh_offset}, " ends behind the file of ",
            bytes.size(), " bytes"));
      }
      contents = *slice;
    }
    if (fatbin) {
      out.fatbins.push_back(contents);
    } else if (ids) {
      ModuleIds more = ParseModuleIds(View(contents));
      ModuleIds& all = out.module_ids;
      all.mixed |= more.mixed;
      all.present = true;
      all.own.insert(all.own.end(), more.own.begin(), more.own.end());
      all.prelinked.insert(all.prelinked.end(), more.prelinked.begin(), more.prelinked.end());
    } else {
      HostReferences::List more = ReadHostReferenceList(contents);
      references->present = true;
      references->names.insert(references->names.end(), more.names.begin(), more.names.end());
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<HostObject> ReadHostObject(base::Bytes bytes) {
  const base::BoundedReader reader(bytes);
  const auto elf_class = reader.ReadOrZero<std::uint8_t>(format::kIdentClass);
  const auto data = reader.ReadOrZero<std::uint8_t>(format::kIdentData);
  const bool wide = elf_class == llvm::ELF::ELFCLASS64;
  if ((!wide && elf_class != llvm::ELF::ELFCLASS32) ||
      (data != llvm::ELF::ELFDATA2LSB && data != llvm::ELF::ELFDATA2MSB)) {
    return absl::InvalidArgumentError(
        absl::StrCat("damaged ELF: class ", elf_class, ", byte order ", data, " at offset 4"));
  }
  if (data == llvm::ELF::ELFDATA2LSB) {
    return wide ? Read<llvm::object::ELF64LE>(bytes) : Read<llvm::object::ELF32LE>(bytes);
  }
  return wide ? Read<llvm::object::ELF64BE>(bytes) : Read<llvm::object::ELF32BE>(bytes);
}

bool LacksItsCode(const HostObject& object) {
  return object.has_wrapper && object.fatbins.empty() && !object.has_whole_program_code;
}

bool HasNoSegments(base::Bytes bytes) {
  // e_phnum; zero is the same in either byte order.
  constexpr std::uint64_t kSmall = 44;
  constexpr std::uint64_t kWide = 56;
  const base::BoundedReader reader(bytes);
  const bool wide = reader.ReadOrZero<std::uint8_t>(format::kIdentClass) == llvm::ELF::ELFCLASS64;
  return reader.ReadOrZero<std::uint16_t>(wide ? kWide : kSmall) == 0;
}

absl::Status CheckElf(base::Bytes bytes) { return ReadHostObject(bytes).status(); }

std::optional<std::uint16_t> ElfMachine(base::Bytes bytes) {
  const base::BoundedReader reader(bytes);
  std::uint16_t machine = 0;
  if (!reader.Read(offsetof(format::Ehdr, machine), machine)) return std::nullopt;
  if (reader.ReadOrZero<std::uint8_t>(format::kIdentData) == llvm::ELF::ELFDATA2MSB) {
    machine = static_cast<std::uint16_t>(machine << 8 | machine >> 8);
  }
  return machine;
}

}  // namespace devlink::internal
