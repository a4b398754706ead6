// SPDX-License-Identifier: Apache-2.0
#include "merge/data_sections.h"

#include <algorithm>

#include "base/align.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

namespace section_name = format::section_name;

void DataSections::Map(std::uint32_t index, bool by_variable) {
  const InputSection& section = input_.sections[index];
  if (section.role == SectionRole::kFunctionConstants) return constants_.Map(index, by_variable);
  if (section.role == SectionRole::kKernelShared) return kernels_.MapLocals(index);
  const bool nobits = format::IsNobitsType(section.type);
  SectionId id = builder_.FindByName(section.name);
  if (id == kNone) {
    id = builder_.AddSection(section.name, section.role,
                             nobits ? format::kShtNobits : format::kShtProgbits, section.flags,
                             section.align);
    builder_.Name(section.name, id);
    builder_.AddSectionSymbol(id);
    if (section.role == SectionRole::kModuleShared) program_.module_shared = id;
    if (section.role == SectionRole::kConstantBank) {
      program_.sections[id].bank = BankNumberOf(section);
      if (program_.sections[id].bank == format::kVariableBank) program_.constant_bank3 = id;
    }
  }
  CheckSameKind(section, id);
  Section& out = program_.sections[id];
  const std::uint64_t base = base::AlignUp(out.size, section.align);
  out.align = std::max(out.align, section.align);
  if (id == program_.constant_bank3) packing_.Add(section.data, section.align);
  if (!nobits) AppendPiece(out, section.data, base);
  // What lies in reserved memory is placed one by one.
  if (section.role != SectionRole::kReservedShared) out.size = base + section.size;
  input_.section_map[index] = {id, base, SectionMapping::kMapped};
}

void DataSections::MapDebug(std::uint32_t index) {
  const InputSection& section = input_.sections[index];
  SectionId id = builder_.FindByName(section.name);
  if (id == kNone) {
    id = builder_.AddSection(section.name, SectionKind::kDebug, format::kShtProgbits, 0,
                             section.align);
    builder_.Name(section.name, id);
    builder_.AddSectionSymbol(id);
  }
  CheckSameKind(section, id);
  Section& out = program_.sections[id];
  input_.section_map[index] = {id, out.size, SectionMapping::kMapped};
  AppendPiece(out, section.data, out.size);
  out.size += section.size;
}

void DataSections::PackConstants() {
  if (program_.constant_bank3 == kNone) return;
  Section& bank = program_.sections[program_.constant_bank3];
  bank.pieces.assign(packing_.pieces().begin(), packing_.pieces().end());
  bank.size = packing_.size();
}

void DataSections::CheckSameKind(const InputSection& section, SectionId known) {
  const Section& first = program_.sections[known];
  const bool same_bank =
      section.role != SectionRole::kConstantBank || first.bank == BankNumberOf(section);
  if (first.kind == section.role && same_bank) return;
  findings_.ReportLost(
      base::Cat({"its section '", section.name, "' is of another kind than that of other inputs"}));
}

void DataSections::MapExternalShared() {
  if (program_.module_shared == kNone) {
    program_.module_shared = builder_.AddSection(
        section_name::kModuleShared, SectionKind::kModuleShared, format::kShtNobits, 3, 1);
    builder_.Name(section_name::kModuleShared, program_.module_shared);
    builder_.AddSectionSymbol(program_.module_shared);
  }
  Section& shared = program_.sections[program_.module_shared];
  shared.align = std::max(shared.align, format::kExternalSharedAlign);
}

}  // namespace devlink::internal
