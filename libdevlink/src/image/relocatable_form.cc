// SPDX-License-Identifier: Apache-2.0
#include "image/relocatable_form.h"

#include <cstddef>
#include <cstdint>

#include "format/elf_cuda.h"
#include "image/function_records.h"
#include "link/relocation_field.h"

namespace devlink::internal {

RelocatableForm::RelocatableForm(const PassResults& passes, bool keep_references)
    : passes_(passes),
      program_(passes.program),
      shared_(passes.shared.partial),
      keep_references_(keep_references) {
  const std::size_t count = program_.sections.size();
  left_out_.names.assign(count, false);
  left_out_.sections.assign(count, false);
  left_out_.symbols.assign(program_.symbols.size(), false);
  for (SectionId id = 0; id < count; ++id) {
    left_out_.sections[id] = program_.sections[id].only_if_filled;
  }
  for (SectionId id = 0; id < count; ++id) {
    if (IsEmpty(id)) left_out_.sections[id] = true;
  }
  for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
    const Symbol& symbol = program_.symbols[id];
    if (symbol.section == kNone) continue;
    if (symbol.type == format::kSttSection) {
      left_out_.symbols[id] = left_out_.sections[symbol.section] || LacksSymbol(symbol.section);
    } else if (symbol.function == kNone) {
      left_out_.symbols[id] = left_out_.sections[symbol.section];  // of a body that was replaced
    }
  }
}

// Sections without contents are not written; their names are.
bool RelocatableForm::IsEmpty(SectionId id) const {
  const Section& section = program_.sections[id];
  switch (section.kind) {
    case SectionKind::kRelocations:
      return passes_.relocated.kept_in_list[id] == 0 || left_out_.sections[section.owner];
    case SectionKind::kKernelShared:
    case SectionKind::kModuleShared:
      return !shared_.sections.at(id).emitted;
    case SectionKind::kModuleInfo:
      return !HasModuleRecord(passes_, relocatable());
    default:
      return false;
  }
}

bool RelocatableForm::LacksSymbol(SectionId id) const {
  const Section& section = program_.sections[id];
  if (section.kind == SectionKind::kDebug) return section.size == 0;
  const auto shared = shared_.sections.find(id);
  return shared != shared_.sections.end() && !shared->second.has_symbol;
}

SectionShape RelocatableForm::ShapeOfSection(SectionId id) const {
  const Section& section = program_.sections[id];
  SectionShape out{.type = section.type,
                   .flags = section.flags,
                   .nobits_size = section.type == format::kShtNobits ? section.size : 0,
                   .align = section.align};
  switch (section.kind) {
    case SectionKind::kConstantBank:
    case SectionKind::kFunctionConstants:
      out.type = format::kShtCudaConstant0 + section.bank;
      break;
    case SectionKind::kGlobalInit:
      out.type = format::kShtCudaGlobalInit;
      break;
    case SectionKind::kGlobal:
      out.type = format::kShtCudaGlobal;
      break;
    case SectionKind::kKernelShared:
    case SectionKind::kModuleShared:
      out.type = format::kShtCudaShared;
      out.nobits_size = shared_.sections.at(id).size;
      out.align = shared_.sections.at(id).align;
      break;
    case SectionKind::kReservedShared:
      out.type = format::kShtCudaReservedShared;
      break;
    default:
      break;
  }
  return out;
}

SymbolShape RelocatableForm::ShapeOfSymbol(SymbolId id) const {
  const Symbol& symbol = program_.symbols[id];
  SymbolShape out{.binding = symbol.binding,
                  .type = symbol.type,
                  .other = static_cast<std::uint8_t>(symbol.other | symbol.space),
                  .section = symbol.section,
                  .value = symbol.constant_size ? ConstantSize(program_) : symbol.value};
  if (symbol.section != kNone) {
    // nvlink leaves it 0 where `extern x[]` was met first, and then stumbles over it.
    if (keep_references_ && symbol.space == format::kStoShared) out.value = symbol.align;
    return out;
  }
  const auto external = shared_.external_values.find(id);
  if (external != shared_.external_values.end()) {
    out.section = program_.module_shared;
    out.value = external->second;
  }
  return out;
}

}  // namespace devlink::internal
