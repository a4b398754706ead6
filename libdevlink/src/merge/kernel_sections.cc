// SPDX-License-Identifier: Apache-2.0
#include "merge/kernel_sections.h"

#include <algorithm>

#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

void KernelSections::Add(FunctionId function, const InputSymbol& symbol) {
  const SectionId text = program_.functions[function].text;
  const SectionId info = builder_.AddInfoSection(
      builder_.Concat(format::section_name::kFunctionInfo, symbol.name), text);
  program_.functions[function].info = info;
  const SectionId shared = AddShared(function, symbol.name);
  MapShared(symbol.section, shared, true);
}

SectionId KernelSections::AddShared(FunctionId function, std::string_view name) {
  const SectionId shared = builder_.AddSection(
      builder_.Concat(format::section_name::kKernelShared, name), SectionKind::kKernelShared,
      format::kShtNobits, format::kKernelSharedFlags, 1);
  program_.sections[shared].owner = program_.functions[function].text;
  program_.sections[shared].function = function;
  program_.functions[function].shared = shared;
  builder_.AddSectionSymbol(shared);
  return shared;
}

void KernelSections::MapShared(std::uint32_t text, SectionId shared, bool take_alignment) {
  const std::uint32_t input_shared = input_.shared_of[text];
  if (input_shared == 0) return;
  if (take_alignment) {
    program_.sections[shared].align = input_.sections[input_shared].align;
  }
  if (input_.view->extensible()) AddUnnamed(input_.sections[input_shared], shared);
  input_.section_map[input_shared] = {shared, 0, SectionMapping::kMapped};
}

void KernelSections::AddUnnamed(const InputSection& section, SectionId shared) {
  Section& out = program_.sections[shared];
  out.is_laid_out = true;
  out.align = std::max(out.align, section.align);
  if (section.size == 0) return;
  program_.unnamed_shared.push_back(
      {shared, section.size, section.align, static_cast<std::uint32_t>(program_.symbols.size())});
}

void KernelSections::MapLocals(std::uint32_t index) {
  const InputSection& section = input_.sections[index];
  const SectionMapping& code = input_.section_map[section.info];
  if (code.state == SectionMapping::kMapped) {
    const FunctionId function = program_.sections[code.section].function;
    if (!program_.functions[function].is_kernel || program_.functions[function].shared != kNone)
      return;
    const Symbol& symbol = program_.symbols[program_.functions[function].symbol];
    MapShared(section.info, AddShared(function, symbol.name), true);
    return;
  }
  const SectionId text = input_.surviving[section.info];
  SectionMapping& mapping = input_.section_map[index];
  mapping.state = SectionMapping::kDiscarded;
  if (text == kNone) return;
  const FunctionId function = program_.sections[text].function;
  SectionId shared = program_.functions[function].shared;
  // One that -kernels-used does not name has none before a copy comes with variables of its own.
  if (shared == kNone && program_.functions[function].is_kernel) {
    shared = AddShared(function, program_.symbols[program_.functions[function].symbol].name);
    program_.sections[shared].align = section.align;
  }
  if (shared != kNone) {
    mapping = {shared, 0, SectionMapping::kMapped};
    if (input_.view->extensible()) AddUnnamed(section, shared);
  } else if (unowned_shared_.insert(function).second) {
    builder_.AddPhantomName(section.name);
  }
}

void KernelSections::AddForExternals() {
  for (const Relocation& relocation : program_.relocations) {
    const Symbol& symbol = program_.symbols[relocation.symbol];
    const Section& section = program_.sections[relocation.section];
    if (!symbol.external_shared || symbol.section != kNone || section.kind != SectionKind::kText) {
      continue;
    }
    const FunctionId function = section.function;
    if (!program_.functions[function].is_kernel || program_.functions[function].shared != kNone)
      continue;
    AddShared(function, program_.symbols[program_.functions[function].symbol].name);
    builder_.PutLastSectionBehindCalls();
  }
}

}  // namespace devlink::internal
