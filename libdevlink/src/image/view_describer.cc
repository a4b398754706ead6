// SPDX-License-Identifier: Apache-2.0
#include "image/view_describer.h"

#include <string_view>

#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/views.h"
#include "image/late_sections.h"
#include "write/residue_writer.h"

namespace devlink::internal {

namespace {

// Names are borrowed, so that the same one lies in the same place.
bool IsSame(std::string_view some, std::string_view other) {
  return some.data() == other.data() && some.size() == other.size();
}

// Some names that go with a section are those of sections that nvlink might have made for it.
bool IsOfSection(const Program& program, const NameEntry& name) {
  return name.section != kNone && IsSame(name.text, program.sections[name.section].name);
}

}  // namespace

ViewDescriber::ViewDescriber(const PassResults& passes, const OutputForm& form,
                             const ChangedBanks& banks, CubinWriter& writer,
                             base::StringArena& names)
    : passes_(passes),
      program_(passes.program),
      form_(form),
      banks_(banks),
      writer_(writer),
      names_(names) {
  handles_.sections.assign(program_.sections.size(), kNoSection);
  handles_.symbols.assign(program_.symbols.size(), kNoSymbol);
}

void ViewDescriber::AddNames() {
  const LeftOut& left_out = form_.left_out();
  entered_.sections.assign(program_.sections.size(), kNoName);
  entered_.symbols_of_sections.assign(program_.sections.size(), kNoName);
  entered_.symbols.assign(program_.symbols.size(), kNoName);
  for (const NameEntry& name : program_.section_names) {
    if (!left_out.Keeps(name)) continue;
    const NameHandle handle = writer_.AddName(kSectionNameTable, name.text);
    if (IsOfSection(program_, name)) entered_.sections[name.section] = handle;
  }
  for (const NameEntry& name : program_.symbol_names) {
    if (!left_out.Keeps(name)) continue;
    const NameHandle handle = writer_.AddName(kStringTable, name.text);
    if (IsOfSection(program_, name)) entered_.symbols_of_sections[name.section] = handle;
    if (name.symbol != kNone && IsSame(name.text, program_.symbols[name.symbol].name)) {
      entered_.symbols[name.symbol] = handle;
    }
  }
}

void ViewDescriber::AddSections() {
  late_ = AddInOrder(program_, form_,
                     [this](SectionId id, std::uint32_t number) { AddSection(id, number); });
  AddLateSections();
  ResidueWriter(writer_).CompleteSections();
}

void ViewDescriber::AddSection(SectionId id, std::uint32_t number) {
  const Section& section = program_.sections[id];
  const SectionShape shape = form_.ShapeOfSection(id);
  SectionSpec spec{
      .name = section.name,
      .type = shape.type,
      .flags = shape.flags,
      .align = shape.align,
      .nobits_size = shape.nobits_size,
      .only_section_name = section.comes_late || entered_.symbols_of_sections[id] != kNoName,
      .entered_name = entered_.sections[id]};
  if (section.kind == SectionKind::kRelocations) {
    spec.entry_size = section.type == format::kShtRel ? format::kRelSize : sizeof(format::Rela);
  }
  if (LinksToSymbols(section.kind)) spec.link = kSymbolTable;
  handles_.sections[id] = writer_.AddSection(spec);
  ResidueWriter(writer_).SetWideIndex(handles_.sections[id], number);
  if (IsParameterBank(section) && banks_.Of(id) != nullptr) AddSlotList(id);
}

// Tells the driver where a kernel's texture references want their handles.
void ViewDescriber::AddSlotList(SectionId parameters) {
  const std::string_view name =
      names_.Concat(format::section_name::kRel, program_.sections[parameters].name);
  const SectionHandle handle = writer_.AddSection({.name = name,
                                                   .type = format::kShtRel,
                                                   .align = 8,
                                                   .entry_size = format::kRelSize,
                                                   .link = kSymbolTable});
  writer_.SetInfoSection(handle, handles_.sections[parameters]);
  slot_lists_.emplace_back(handle, parameters);
}

// Sections that come into being after all inputs, in nvlink's order.
void ViewDescriber::AddLateSections() {
  const CallSections calls = AddCallSections(passes_, writer_);
  handles_.call_graph = calls.call_graph;
  handles_.prototypes = calls.prototypes;
  for (const NumberedSection& late : late_) AddSection(late.id, late.number);
  if (form_.relocatable()) return;
  AddSharedSections();
  AddBanks();
  if (program_.view == format::ViewKind::kMercury) return;  // that view has no such section
  handles_.actions = writer_.AddSection({.name = format::section_name::kRelocationActions,
                                         .type = format::kShtCudaRelocInfo,
                                         .align = 8,
                                         .entry_size = 8});
  ResidueWriter(writer_).SetWideIndex(handles_.actions, program_.residue.internal_sections + 2);
}

// Of kernels that came to have shared memory by what they call.
void ViewDescriber::AddSharedSections() {
  for (const std::uint32_t i : passes_.shared.without_section) {
    const SectionHandle handle = AddLateShared(passes_, i, 0, writer_, names_);
    if (handle == kNoSection) continue;
    const FunctionId kernel = passes_.liveness.kernels[i];
    new_sections_.push_back({handle, kernel, passes_.shared.kernels[i].has_symbol});
    late_shared_[kernel] = handle;
  }
}

// Banks of kernels that had none, and lists of the relocations that stay in a bank.
void ViewDescriber::AddBanks() {
  const std::vector<ConstantBank>& banks = passes_.constants.banks;
  std::vector<bool> has_relocations(banks.size());
  for (const KeptRelocation& kept : passes_.relocated.kept_in_banks) {
    has_relocations[kept.list] = true;
  }
  bank_relocations_.assign(banks.size(), kNoSection);
  for (std::size_t i = 0; i < banks.size(); ++i) {
    const ConstantBank& bank = banks[i];
    const bool is_new = bank.section == kNone;
    const SectionHandle handle =
        is_new ? writer_.AddSection(SpecOfBank(bank)) : handles_.sections[bank.section];
    if (is_new) {
      new_sections_.push_back({handle, bank.kernel, true});
      new_banks_.emplace_back(handle, &bank);
    }
    if (!has_relocations[i]) continue;
    bank_relocations_[i] = writer_.AddSection(
        SpecOfBankRelocations(names_.Concat(format::section_name::kRela, bank.name)));
    writer_.SetInfoSection(bank_relocations_[i], handle);
  }
}

void ViewDescriber::AddSymbols() {
  ResidueWriter(writer_).SetNullSymbolValue(passes_.constants.null_symbol_value +
                                            passes_.shared.null_symbol_value);
  for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
    if (!form_.left_out().symbols[id] && !ComesLate(program_, id)) AddSymbol(id);
  }
  const auto add_section_symbol = [this](SectionHandle section) {
    if (section == kNoSection) return;
    writer_.AddSymbol({.type = format::kSttSection, .section = section});
  };
  add_section_symbol(handles_.call_graph);
  add_section_symbol(handles_.prototypes);
  for (const NewSection& section : new_sections_) {
    if (section.has_symbol) add_section_symbol(section.handle);
  }
  add_section_symbol(handles_.actions);
  AddInstances(
      program_, form_, late_, writer_,
      [this](const ExternalInstance& instance) {
        instances_.push_back(writer_.AddSymbol(SpecOfInstance(instance)));
      },
      [&](SectionId id) { add_section_symbol(handles_.sections[id]); });
}

void ViewDescriber::AddSymbol(SymbolId id) {
  const Symbol& symbol = program_.symbols[id];
  const SymbolShape shape = form_.ShapeOfSymbol(id);
  if (shape.name_only) return ResidueWriter(writer_).AddLateSymbolName(symbol.name);
  handles_.symbols[id] =
      writer_.AddSymbol({.name = symbol.name,
                         .binding = shape.binding,
                         .type = shape.type,
                         .other = shape.other,
                         .section = SectionOf(shape),
                         .value = shape.value,
                         .size = symbol.size,
                         .part = symbol.global_part ? SymbolPart::kGlobal : SymbolPart::kLocal,
                         .entered_name = EnteredNameOf(id)});
}

NameHandle ViewDescriber::EnteredNameOf(SymbolId id) const {
  const Symbol& symbol = program_.symbols[id];
  if (symbol.section == kNone || !IsSame(symbol.name, program_.sections[symbol.section].name)) {
    return entered_.symbols[id];
  }
  return entered_.symbols_of_sections[symbol.section];
}

SectionHandle ViewDescriber::SectionOf(const SymbolShape& shape) const {
  if (shape.section != kNone) return handles_.sections[shape.section];
  const auto found = late_shared_.find(shape.late_kernel);
  return found == late_shared_.end() ? kNoSection : found->second;
}

void ViewDescriber::LinkSections() {
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const SectionHandle handle = handles_.sections[id];
    if (handle == kNoSection) continue;
    const Section& section = program_.sections[id];
    if (section.kind == SectionKind::kText) {
      const SymbolHandle symbol = handles_.SymbolOf(program_, section.function);
      writer_.SetInfoSymbol(handle, symbol, section.registers);
    } else if (section.owner != kNone) {
      writer_.SetInfoSection(handle, handles_.sections[section.owner]);
    }
  }
  for (const NewSection& section : new_sections_) {
    const SectionId text = program_.functions[section.kernel].text;
    writer_.SetInfoSection(section.handle, handles_.sections[text]);
  }
}

void ViewDescriber::FillContents() {
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const SectionHandle handle = handles_.sections[id];
    const Section& section = program_.sections[id];
    if (handle == kNoSection || section.kind == SectionKind::kToolNote ||
        section.type == format::kShtNobits) {
      continue;
    }
    if (const ConstantBank* bank = banks_.Of(id)) {
      FillPieces(writer_, handle, bank->pieces, bank->size);
    } else if (!section.pieces.empty() || section.size != 0) {
      FillPieces(writer_, handle, section.pieces, section.size);
    }
  }
  for (const auto& [handle, bank] : new_banks_)
    FillPieces(writer_, handle, bank->pieces, bank->size);
  for (const FieldPatch& patch : passes_.relocated.patches) {
    const SectionHandle handle = handles_.sections[patch.section];
    if (handle != kNoSection) writer_.Patch(handle, patch.offset, patch.field, patch.value);
  }
}

void ViewDescriber::FillRelocations() {
  for (const KeptRelocation& kept : passes_.relocated.kept) {
    const SectionHandle handle = handles_.sections[kept.list];
    if (handle == kNoSection) continue;
    const SymbolHandle symbol =
        kept.instance != kNone ? instances_[kept.instance] : handles_.symbols[kept.symbol];
    writer_.AddRelocation(handle, kept.offset, kept.type, symbol, kept.addend);
  }
  for (const KeptRelocation& kept : passes_.relocated.kept_in_banks) {
    writer_.AddRelocation(bank_relocations_[kept.list], kept.offset, kept.type,
                          handles_.symbols[kept.symbol], kept.addend);
  }
}

void ViewDescriber::FillSlotLists() {
  const auto& slots = passes_.textures.slots;
  for (const auto& [handle, parameters] : slot_lists_) {
    const FunctionId kernel = banks_.Of(parameters)->kernel;
    for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
      if (!slot->IsFilledFor(kernel)) continue;
      const std::uint32_t kind = format::SlotRelocation(program_.symbols[slot->symbol].type);
      writer_.AddRelocation(handle, slot->offset, kind, handles_.symbols[slot->symbol], 0);
    }
  }
}

}  // namespace devlink::internal
