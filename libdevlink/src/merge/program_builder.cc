// SPDX-License-Identifier: Apache-2.0
#include "merge/program_builder.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/sm_traits.h"
#include "format/views.h"

namespace devlink::internal {

namespace section_name = format::section_name;

ProgramBuilder::ProgramBuilder(std::uint32_t sm, format::ViewKind view,
                               bool weak_symbols_are_global, const ExpectedSizes& expected)
    : has_two_views(format::HasTwoViews(sm)),
      reserved_shared_end(view == format::ViewKind::kSass ? format::TraitsOf(sm).reserved_shared
                                                          : 0),
      weak_symbols_are_global_(weak_symbols_are_global) {
  Reserve(expected);
  program.view = view;
  // What every output has, in the order in which nvlink enters the names.
  for (std::string_view name : {section_name::kNames, section_name::kStrings,
                                section_name::kSymbols, section_name::kWideIndices}) {
    AddPhantomName(name);
  }
  program.tool_note = AddSection(section_name::kToolNote, SectionKind::kToolNote, format::kShtNote,
                                 format::kShfTkInfo, 4);
  program.cuda_note = AddSection(section_name::kCudaNote, SectionKind::kCudaNote, format::kShtNote,
                                 format::kShfCuInfo, 4);
  AddSectionSymbol(program.tool_note);
  AddSectionSymbol(program.cuda_note);
  program.module_info = AddInfoSection(section_name::kModuleInfo, kNone);
  if (format::TraitsOf(sm).has_compat) {
    program.compat =
        AddSection(section_name::kCompat, SectionKind::kCompat, format::kShtCudaCompat, 0, 4);
  }
}

void ProgramBuilder::Reserve(const ExpectedSizes& expected) {
  constexpr std::size_t kOwn = 8;  // those that every output has
  const std::size_t sections = expected.sections + kOwn;
  const std::size_t symbols = expected.symbols + kOwn;
  program.sections.reserve(sections);
  program.symbols.reserve(symbols);
  program.section_names.reserve(sections);
  program.symbol_names.reserve(sections + symbols);
  program.relocations.reserve(expected.relocations);
  program.functions.reserve(expected.functions);
  // Inputs share names, so that many symbols need not be many names.
  constexpr std::size_t kFewNames = 64;
  globals_.Reserve(std::min(symbols, kFewNames));
  // Of each function, and of all of them.
  program.info_lists.reserve(expected.functions + 1);
  program.info_sections.reserve(expected.functions + 1);
}

SectionId ProgramBuilder::AddSection(std::string_view name, SectionKind kind, std::uint32_t type,
                                     std::uint32_t flags, std::uint32_t align) {
  const auto id = static_cast<SectionId>(program.sections.size());
  Section& section = program.sections.emplace_back();
  section.name = name;
  section.kind = kind;
  section.type = type;
  section.flags = flags;
  section.align = align;
  program.section_names.push_back({.text = name, .section = id});
  program.symbol_names.push_back({.text = name, .section = id});
  return id;
}

void ProgramBuilder::PutLastSectionBehindCalls() {
  program.sections.back().comes_late = true;
  program.section_names.pop_back();
  program.symbol_names.pop_back();
}

void ProgramBuilder::AddPhantomName(std::string_view name) {
  program.section_names.push_back({.text = name});
  program.symbol_names.push_back({.text = name});
}

SymbolId ProgramBuilder::AddSectionSymbol(SectionId section) {
  const auto id = static_cast<SymbolId>(program.symbols.size());
  Symbol& symbol = program.symbols.emplace_back();
  symbol.name = program.sections[section].name;
  symbol.type = format::kSttSection;
  symbol.section = section;
  symbol.input = input_;
  program.sections[section].symbol = id;
  return id;
}

SymbolId ProgramBuilder::AddSymbol(const InputSymbol& symbol, std::uint8_t type) {
  const auto id = static_cast<SymbolId>(program.symbols.size());
  Symbol& out = program.symbols.emplace_back();
  out.name = symbol.name;
  out.binding = symbol.binding;
  out.type = type;
  out.size = symbol.size;
  out.other = symbol.other & static_cast<std::uint8_t>(~format::kStoSpaceMask);
  out.space = symbol.other & format::kStoSpaceMask;
  out.input = input_;
  // The part of the symbol table follows the binding that the symbol has when it comes into being.
  out.global_part = symbol.binding == format::kStbGlobal ||
                    (weak_symbols_are_global_ && symbol.binding == format::kStbWeak);
  if (symbol.binding != format::kStbLocal) globals_[symbol.name] = id;
  return id;
}

FunctionId ProgramBuilder::AddFunction(SymbolId symbol) {
  const auto id = static_cast<FunctionId>(program.functions.size());
  program.functions.emplace_back().symbol = symbol;
  program.symbols[symbol].function = id;
  return id;
}

void ProgramBuilder::TakeOver(SymbolId symbol) {
  InputId& owner = program.symbols[symbol].input;
  if (owner != input_) taken_over_.try_emplace(symbol, owner);
  owner = input_;
}

void ProgramBuilder::StartOver(SymbolId symbol) {
  program.symbols[symbol].input = input_;
  taken_over_.erase(symbol);
}

InputId ProgramBuilder::FirstInput(SymbolId symbol) const {
  const auto found = taken_over_.find(symbol);
  return found == taken_over_.end() ? program.symbols[symbol].input : found->second;
}

SectionId ProgramBuilder::AddInfoSection(std::string_view name, SectionId text) {
  const bool module = text == kNone;
  const SectionId id =
      AddSection(name, module ? SectionKind::kModuleInfo : SectionKind::kFunctionInfo,
                 format::kShtCudaInfo, module ? 0 : format::kShfInfoLink, 4);
  Section& section = program.sections[id];
  section.owner = text;
  section.function = module ? kNone : program.sections[text].function;
  section.info_list = static_cast<std::uint32_t>(program.info_lists.size());
  program.info_lists.emplace_back();
  program.info_sections.push_back(id);
  return id;
}

SectionId ProgramBuilder::RelocationSection(std::string_view name, SectionId target,
                                            std::uint32_t type) {
  const bool with_addend = type == format::kShtRela;
  const SectionId known =
      with_addend ? program.sections[target].rela : program.sections[target].rel;
  if (known != kNone) return known;
  const SectionId id = AddSection(name, SectionKind::kRelocations, type, format::kShfInfoLink, 8);
  program.sections[id].owner = target;
  program.sections[id].function = program.sections[target].function;
  // With -force-rela the list without addends is no more than a name.
  const bool first =
      force_rela ? with_addend : program.sections[target].rela == program.sections[target].rel;
  (with_addend ? program.sections[target].rela : program.sections[target].rel) = id;
  if (first && preserve_resolved) AddResolvedList(target);
  return id;
}

void ProgramBuilder::AddResolvedList(SectionId target) {
  const std::string_view name = Concat(section_name::kResolvedRela, program.sections[target].name);
  if (one_list_of_a_name && !resolved_lists_.insert(name).second) return;
  const SectionId id = AddSection(name, SectionKind::kRelocations, format::kShtCudaResolvedRela,
                                  format::kShfInfoLink, 8);
  program.sections[id].owner = target;
  program.sections[id].function = program.sections[target].function;
}

std::uint32_t ProgramBuilder::AddPrototype(std::string_view text) {
  std::uint32_t& number = prototypes_[text];
  if (number == 0) {
    number = static_cast<std::uint32_t>(program.prototypes.size()) + 1;
    program.prototypes.append(text).push_back('\0');
  }
  return number;
}

SectionId ProgramBuilder::FindByName(std::string_view name) const {
  const SectionId* found = named_.Find(name);
  return found == nullptr ? kNone : *found;
}

SymbolId ProgramBuilder::FindGlobal(const InputSymbol& symbol) const {
  if (symbol.binding == format::kStbLocal) return kNone;
  const SymbolId* found = globals_.Find(symbol.name);
  return found == nullptr ? kNone : *found;
}

Program ProgramBuilder::Take() && {
  program.residue.internal_sections = kNvlinkOwnSections;
  for (const Section& section : program.sections) {
    program.residue.internal_sections += SectionsCountedFor(section);
  }
  program.names = std::move(names_);
  return std::move(program);
}

}  // namespace devlink::internal
