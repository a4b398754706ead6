// SPDX-License-Identifier: Apache-2.0
#include "image/late_sections.h"

#include "format/elf_cuda.h"
#include "format/sections.h"
#include "image/function_records.h"
#include "write/residue_writer.h"

namespace devlink::internal {

bool LinksToSymbols(SectionKind kind) {
  return kind == SectionKind::kRelocations || kind == SectionKind::kText ||
         kind == SectionKind::kModuleInfo || kind == SectionKind::kFunctionInfo;
}

SectionNumbers::SectionNumbers(const Program& program) : program_(program) {}

std::uint32_t SectionNumbers::Next() {
  const auto& skipped = program_.residue.skipped_numbers;
  for (; skipped_ < skipped.size() && skipped[skipped_].first == id_; ++skipped_) {
    counted_ += skipped[skipped_].second;
  }
  const std::uint32_t number = NvlinkNumberOf(counted_);
  counted_ += SectionsCountedFor(program_.sections[id_++]);
  return number;
}

CallSections AddCallSections(const PassResults& passes, CubinWriter& writer) {
  ResidueWriter residue(writer);
  const std::uint32_t number = passes.program.residue.internal_sections;
  CallSections out;
  out.call_graph = writer.AddSection({.name = format::section_name::kCallGraph,
                                      .type = format::kShtCudaCallGraph,
                                      .align = 4,
                                      .entry_size = 8,
                                      .link = kSymbolTable});
  residue.SetWideIndex(out.call_graph, number);
  if (HasPrototypes(passes)) {
    out.prototypes = writer.AddSection({.name = format::section_name::kPrototypes,
                                        .type = format::kShtCudaPrototype,
                                        .align = 4,
                                        .entry_size = 8,
                                        .link = kSymbolTable});
    residue.SetWideIndex(out.prototypes, number + 1);
  } else {
    writer.AddName(kSectionNameTable, format::section_name::kPrototypes);
    writer.AddName(kStringTable, format::section_name::kPrototypes);
  }
  return out;
}

SectionHandle AddLateShared(const PassResults& passes, std::uint32_t kernel, std::uint64_t more,
                            CubinWriter& writer, base::StringArena& names) {
  const Program& program = passes.program;
  const SymbolId symbol = program.functions[passes.liveness.kernels[kernel]].symbol;
  const std::string_view name =
      names.Concat(format::section_name::kKernelShared, program.symbols[symbol].name);
  const KernelShared& shared = passes.shared.kernels[kernel];
  if (!shared.emitted) {
    writer.AddName(kSectionNameTable, name);
    writer.AddName(kStringTable, name);
    return kNoSection;
  }
  return writer.AddSection({.name = name,
                            .type = format::kShtNobits,
                            .flags = format::kKernelSharedFlags,
                            .align = shared.align,
                            .nobits_size = shared.size + more});
}

bool ComesLate(const Program& program, SymbolId symbol) {
  const SectionId section = program.symbols[symbol].section;
  return section != kNone && program.sections[section].comes_late &&
         program.sections[section].symbol == symbol;
}

SectionSpec SpecOfBank(const ConstantBank& bank) {
  return {
      .name = bank.name, .type = format::kShtProgbits, .flags = bank.flags, .align = bank.align};
}

SectionSpec SpecOfBankRelocations(std::string_view name) {
  return {.name = name,
          .type = format::kShtRela,
          .flags = format::kShfInfoLink,
          .align = 8,
          .entry_size = sizeof(format::Rela),
          .link = kSymbolTable};
}

SymbolSpec SpecOfInstance(const ExternalInstance& instance) {
  return {.name = "externsharedinstance",
          .binding = format::kStbWeak,
          .type = format::kSttCudaObject,
          .other = format::kStoShared | format::kStoInternal,
          .value = instance.value,
          .part = instance.global_part ? SymbolPart::kGlobal : SymbolPart::kLocal};
}

}  // namespace devlink::internal
