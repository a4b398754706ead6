// SPDX-License-Identifier: Apache-2.0
//
// The output of a relocatable link (nvlink -r; docs/relocatable.md).
#include "format/elf_cuda.h"
#include "write/emitter.h"

namespace devlink::internal {

namespace {

class RelocatableEmitter final : public Emitter {
 public:
  RelocatableEmitter(const LinkedProgram& linked, const LinkOptions& options)
      : Emitter(linked, options, /*relocatable=*/true) {}

 private:
  void DropSectionsAndSymbols() override {
    const std::size_t count = program_.sections.size();
    section_dropped_.assign(count, false);
    symbol_dropped_.assign(program_.symbols.size(), false);
    for (SectionId id = 0; id < count; ++id) {
      section_dropped_[id] = linked_.liveness.section_removed[id] || program_.sections[id].vacated;
    }
    name_dropped_ = section_dropped_;
    for (SectionId id = 0; id < count; ++id) {
      if (IsEmpty(id)) section_dropped_[id] = true;
    }
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.section == kNone) continue;
      const Section& section = program_.sections[symbol.section];
      if (symbol.type == format::kSttSection) {
        symbol_dropped_[id] = section_dropped_[symbol.section] ||
                              (section.kind == SectionKind::kDebug && section.size == 0);
      } else if (symbol.function == kNone) {
        symbol_dropped_[id] = section.generation != symbol.generation;
      }
    }
  }

  // Sections without contents are not written; their names are.
  [[nodiscard]] bool IsEmpty(SectionId id) const {
    const Section& section = program_.sections[id];
    switch (section.kind) {
      case SectionKind::kRelocations:
        return linked_.relocated.kept_in_list[id] == 0 || section_dropped_[section.owner];
      case SectionKind::kEntryShared:
      case SectionKind::kModuleShared:
        return section.size == 0;
      case SectionKind::kModuleInfo:
        return !AnyModuleRecord();
      default:
        return false;
    }
  }

  void AddBanksAndActions() override {}

  // Memory keeps the types that the CUDA tools give it before a link.
  void DescribeSection(SectionId id, SectionSpec& spec) const override {
    const Section& section = program_.sections[id];
    switch (section.kind) {
      case SectionKind::kConstantBank:
      case SectionKind::kFunctionConstants:
        spec.type = format::kShtCudaConstant0 + section.bank;
        break;
      case SectionKind::kGlobalInit:
        spec.type = format::kShtCudaGlobalInit;
        break;
      case SectionKind::kGlobal:
        spec.type = format::kShtCudaGlobal;
        break;
      case SectionKind::kEntryShared:
      case SectionKind::kModuleShared:
        spec.type = format::kShtCudaShared;
        break;
      default:
        break;
    }
  }

  void AddSymbol(SymbolId id) override {
    const Symbol& symbol = program_.symbols[id];
    SymbolSpec spec{.name = symbol.name,
                    .binding = symbol.binding,
                    .type = symbol.type,
                    .other = static_cast<std::uint8_t>(symbol.other | symbol.space),
                    .value = symbol.value,
                    .size = symbol.size,
                    .part = symbol.global_part ? SymbolPart::kGlobal : SymbolPart::kLocal};
    if (symbol.section != kNone) {
      spec.section = section_handles_[symbol.section];
      if (symbol.space == format::kStoShared) spec.value = symbol.align;
    } else if (symbol.function == kNone) {
      spec.value = ~std::uint64_t{0};
    }
    symbol_handles_[id] = writer_.AddSymbol(spec);
  }
};

}  // namespace

Image DescribeRelocatable(const LinkedProgram& linked, const LinkOptions& options) {
  return RelocatableEmitter(linked, options).Run();
}

}  // namespace devlink::internal
