// SPDX-License-Identifier: Apache-2.0
//
// What can be said of a module without linking it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "devlink/module.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/sections.h"
#include "model/module.h"

namespace devlink {

namespace internal {

SymbolKind KindOf(const InputSymbol& symbol) {
  switch (symbol.type) {
    case format::kSttFunc:
      return SymbolKind::kFunction;
    case format::kSttObject:
    case format::kSttCudaObject:
      return SymbolKind::kVariable;
    case format::kSttCudaTexture:
      return SymbolKind::kTexture;
    case format::kSttCudaSampler:
      return SymbolKind::kSampler;
    case format::kSttCudaSurface:
      return SymbolKind::kSurface;
    default:
      return SymbolKind::kUnknown;
  }
}

}  // namespace internal

namespace {

using internal::InputSection;
using internal::InputSymbol;
using internal::ModuleView;

MemorySpace SpaceOf(std::uint8_t other) {
  switch (other & format::kStoSpaceMask) {
    case format::kStoGlobal:
      return MemorySpace::kGlobal;
    case format::kStoShared:
      return MemorySpace::kShared;
    case format::kStoConstant:
      return MemorySpace::kConstant;
    default:
      return MemorySpace::kNone;
  }
}

SymbolBinding BindingOf(std::uint8_t binding) {
  if (binding == format::kStbLocal) return SymbolBinding::kLocal;
  return binding == format::kStbWeak ? SymbolBinding::kWeak : SymbolBinding::kGlobal;
}

bool IsDefined(const InputSymbol& symbol) {
  return symbol.section != format::kShnUndef && !format::IsTextureType(symbol.type);
}

ModuleSymbol Describe(const InputSymbol& symbol) {
  const SymbolKind kind = KindOf(symbol);
  const bool is_variable = kind == SymbolKind::kVariable;
  return {.name = std::string(symbol.name),
          .kind = kind,
          .binding = BindingOf(symbol.binding),
          .space = is_variable ? SpaceOf(symbol.other) : MemorySpace::kNone,
          .is_defined = IsDefined(symbol),
          .is_kernel = kind == SymbolKind::kFunction && (symbol.other & format::kStoEntry) != 0,
          .is_managed = is_variable && (symbol.other & format::kStoManaged) != 0,
          .size = symbol.size};
}

// Of sections that belong to a function. In an executable cubin they have the types of any ELF
// file.
bool HoldsShared(const InputSection& section) {
  return section.type == format::kShtCudaShared || section.type == format::kShtNobits;
}
bool HoldsConstants(const InputSection& section) {
  return format::IsConstantType(section.type) ||
         (section.type == format::kShtProgbits && (section.flags & format::kShfAlloc) != 0);
}

// By its name, the one thing that an executable cubin keeps of what a bank is.
bool IsParameterBank(const InputSection& section) {
  return section.name.starts_with(format::section_name::kParameters);
}

class Inspector {
 public:
  Inspector(const ModuleView& view, ModuleInfo& out)
      : view_(view), sections_(view.sections()), out_(out) {}

  void Run() {
    ReadSymbols();
    for (const InputSection& section : sections_) {
      if (section.role == internal::SectionRole::kOtherView) continue;
      if (section.type == format::kShtCudaInfo) ReadRecords(section);
      // The section that says whose it is, by its section of code.
      if ((section.flags & format::kShfInfoLink) == 0) continue;
      ModuleFunction* function = FunctionIn(section.info);
      if (function == nullptr) continue;
      if (HoldsShared(section)) function->shared_bytes += section.size;
      if (!HoldsConstants(section)) continue;
      function->constant_bytes += section.size;
      if (IsParameterBank(section)) function->parameter_bytes += section.size;
    }
  }

 private:
  void ReadSymbols() {
    for (std::uint32_t i = 0; i < view_.symbol_count(); ++i) {
      const InputSymbol symbol = view_.SymbolAt(i);
      if (symbol.type == format::kSttSection || symbol.name.empty()) continue;
      const ModuleSymbol& added = out_.symbols.emplace_back(Describe(symbol));
      if (added.kind != SymbolKind::kFunction || !added.is_defined ||
          symbol.section >= sections_.size()) {
        continue;
      }
      by_symbol_.emplace(i, out_.functions.size());
      by_section_.emplace(symbol.section, out_.functions.size());
      ModuleFunction& function =
          out_.functions.emplace_back(ModuleFunction{.name = added.name,
                                                     .is_kernel = added.is_kernel,
                                                     .code_bytes = sections_[symbol.section].size});
      const std::uint16_t barriers = format::BarriersOfCode(sections_[symbol.section].flags);
      if (barriers != 0) function.barriers = barriers;
    }
  }

  ModuleFunction* FunctionIn(std::uint32_t section) {
    const auto found = by_section_.find(section);
    return found == by_section_.end() ? nullptr : &out_.functions[found->second];
  }

  ModuleFunction* FunctionOf(std::uint32_t symbol) {
    const auto found = by_symbol_.find(symbol);
    return found == by_symbol_.end() ? nullptr : &out_.functions[found->second];
  }

  // Records of the module name the function, those of a function have a section of their own.
  void ReadRecords(const InputSection& section) {
    format::InfoReader records(section.data);
    for (format::InfoRecord record; records.Next(record);) {
      if (record.format != format::kInfoSized) {
        ModuleFunction* function = FunctionIn(section.info);
        if (function != nullptr && record.id == format::kAttrNumBarriers) {
          function->barriers = record.value;
        }
        continue;
      }
      const base::BoundedReader payload(record.payload);
      std::uint32_t symbol = 0;
      std::uint32_t value = 0;
      if (!payload.Read(0, symbol) || !payload.Read(4, value)) continue;
      Keep(record.id, symbol, value);
    }
  }

  void Keep(std::uint8_t attribute, std::uint32_t symbol, std::uint32_t value) {
    if (attribute != format::kAttrRegCount && attribute != format::kAttrFrameSize &&
        attribute != format::kAttrMinStackSize) {
      return;
    }
    ModuleFunction* function = FunctionOf(symbol);
    if (function == nullptr) return;
    if (attribute == format::kAttrRegCount) function->registers = value;
    if (attribute == format::kAttrFrameSize) function->frame_bytes = value;
    if (attribute == format::kAttrMinStackSize) function->stack_bytes = value;
  }

  const ModuleView& view_;
  const std::vector<InputSection> sections_;
  ModuleInfo& out_;
  // Places in `functions`.
  base::HashMap<std::uint32_t, std::size_t> by_symbol_;
  base::HashMap<std::uint32_t, std::size_t> by_section_;
};

}  // namespace

ModuleInfo InspectModule(const ModuleRef& module) {
  ModuleInfo out;
  out.arch = {.number = static_cast<std::uint16_t>(module->sm()),
              .variant = module->architecture_specific() ? 'a' : '\0'};
  out.toolkit = module->toolkit();
  out.is_relocatable = module->relocatable();
  out.bytes = module->bytes().size();
  Inspector(module->sass(), out).Run();
  return out;
}

}  // namespace devlink
