// SPDX-License-Identifier: Apache-2.0
#include "assemble/early_references.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "assemble/elf_tables.h"
#include "base/strings.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

// A kernel's parameters, `.nv.constant0`, have their place from the start.
bool HoldsWhatWasResolved(std::string_view section) {
  using namespace format::section_name;  // NOLINT: the names
  if (section.starts_with(kConstants)) return !section.starts_with(kParameters);
  return section.starts_with(kKernelShared) || section == kModuleShared;
}

bool HasTextureReference(const base::BoundedReader& file, const ElfTables& tables) {
  for (const format::Shdr& section : tables.sections) {
    if (section.type != format::kShtSymtab) continue;
    format::Sym symbol{};
    for (std::uint64_t at = 0; at < section.size && file.Read(section.offset + at, symbol);
         at += sizeof(symbol)) {
      if (format::IsTextureType(symbol.info & 0xf)) return true;
    }
  }
  return false;
}

absl::Status Refusal(std::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("it uses ", base::ToAbsl(what),
                   ", which libnvJitLink places before the link does; use nvPTXCompiler or ptxas"));
}

}  // namespace

absl::Status RefuseEarlyReferences(base::Bytes cubin) {
  const base::BoundedReader file(cubin);
  const auto tables = ReadElfTables(file);
  if (!tables.has_value()) return absl::InvalidArgumentError("libnvJitLink's cubin is damaged");
  for (std::size_t i = 1; i < tables->sections.size(); ++i) {
    const auto name = SectionName(file, *tables, i);
    if (!name.has_value()) return absl::InvalidArgumentError("libnvJitLink's cubin is damaged");
    if (HoldsWhatWasResolved(*name)) {
      return Refusal(base::Cat({"shared memory or constants ('", *name, "')"}));
    }
  }
  return HasTextureReference(file, *tables) ? Refusal("texture or surface references")
                                            : absl::OkStatus();
}

}  // namespace devlink::internal
