// SPDX-License-Identifier: Apache-2.0
//
// The output of a relocatable link (nvlink -r; docs/relocatable.md).
#include <utility>
#include <vector>

#include "format/elf_cuda.h"
#include "image/emitter.h"
#include "link/relocation_field.h"

namespace devlink::internal {

namespace {

class RelocatableEmitter final : public Emitter {
 public:
  RelocatableEmitter(PassResults&& passes, const LinkOptions& options)
      : Emitter(std::move(passes), options, /*relocatable=*/true),
        shared_(passes_.shared.partial) {}

 private:
  void DropSectionsAndSymbols() override {
    const std::size_t count = program_.sections.size();
    section_dropped_.assign(count, false);
    symbol_dropped_.assign(program_.symbols.size(), false);
    for (SectionId id = 0; id < count; ++id) {
      section_dropped_[id] = program_.sections[id].only_if_filled;
    }
    for (SectionId id = 0; id < count; ++id) {
      if (IsEmpty(id)) section_dropped_[id] = true;
    }
    name_dropped_.assign(count, false);
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.section == kNone) continue;
      if (symbol.type == format::kSttSection) {
        symbol_dropped_[id] = section_dropped_[symbol.section] || LacksSymbol(symbol.section);
      } else if (symbol.function == kNone) {
        symbol_dropped_[id] = section_dropped_[symbol.section];  // of a body that was replaced
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
        return !shared_.sections.at(id).emitted;
      case SectionKind::kModuleInfo:
        return !AnyModuleRecord();
      default:
        return false;
    }
  }

  [[nodiscard]] bool LacksSymbol(SectionId id) const {
    const Section& section = program_.sections[id];
    if (section.kind == SectionKind::kDebug) return section.size == 0;
    const auto shared = shared_.sections.find(id);
    return shared != shared_.sections.end() && !shared->second.has_symbol;
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
        spec.nobits_size = shared_.sections.at(id).size;
        spec.align = shared_.sections.at(id).align;
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
    if (symbol.constant_size) spec.value = ConstantSize(program_);
    const auto external = shared_.external_values.find(id);
    if (symbol.section != kNone) {
      spec.section = section_handles_[symbol.section];
      // nvlink leaves it 0 where `extern x[]` was met first, and then stumbles over it.
      if (options_.keep_references && symbol.space == format::kStoShared) spec.value = symbol.align;
    } else if (external != shared_.external_values.end()) {
      spec.section = section_handles_[program_.module_shared];
      spec.value = external->second;
    }
    symbol_handles_[id] = writer_.AddSymbol(spec);
  }

  void AddSymbols() override {
    Emitter::AddSymbols();
    for (const ExternalInstance& instance : shared_.instances) {
      instances_.push_back(writer_.AddSymbol({.name = "externsharedinstance",
                                              .binding = format::kStbWeak,
                                              .type = format::kSttCudaObject,
                                              .other = format::kStoShared | format::kStoInternal,
                                              .value = instance.value,
                                              .part = SymbolPart::kLocal}));
    }
  }

  [[nodiscard]] SymbolHandle SymbolOf(const KeptRelocation& kept) const override {
    return kept.instance != kNone ? instances_[kept.instance] : Emitter::SymbolOf(kept);
  }
  using Emitter::SymbolOf;

  const PartialSharedLayout& shared_;
  std::vector<SymbolHandle> instances_;  // as PartialSharedLayout::instances
};

}  // namespace

Image DescribeRelocatable(PassResults&& passes, const LinkOptions& options) {
  return RelocatableEmitter(std::move(passes), options).Run();
}

}  // namespace devlink::internal
