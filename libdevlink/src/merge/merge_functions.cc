// SPDX-License-Identifier: Apache-2.0
//
// First pass over an input: its functions.
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/nvlink_text.h"
#include "format/sections.h"
#include "merge/merger.h"

namespace devlink::internal {

void Merger::MergeFunctions() {
  for (std::uint32_t i = 0; i < view_->symbol_count(); ++i) {
    const InputSymbol symbol = view_->SymbolAt(i);
    if (symbol.type != format::kSttFunc || symbol_map_[i] != kNone) continue;
    if (symbol.size == 0) MergeWhatItStandsFor(symbol);
    MergeFunction(i, symbol);
  }
}

// An alias, which has no size, comes behind the function whose code it names. nvlink -r writes them
// in any order.
void Merger::MergeWhatItStandsFor(const InputSymbol& alias) {
  if (alias.section >= section_map_.size() ||
      section_map_[alias.section].state != Mapping::kUnmapped) {
    return;
  }
  if (sized_functions_.empty()) {
    sized_functions_.assign(sections_.size(), kNone);
    for (std::uint32_t i = view_->symbol_count(); i-- > 0;) {
      const InputSymbol symbol = view_->SymbolAt(i);
      if (symbol.type == format::kSttFunc && symbol.size != 0 &&
          symbol.section < sections_.size()) {
        sized_functions_[symbol.section] = i;
      }
    }
  }
  const std::uint32_t real = sized_functions_[alias.section];
  if (real != kNone && symbol_map_[real] == kNone) MergeFunction(real, view_->SymbolAt(real));
}

void Merger::MergeFunction(std::uint32_t index, const InputSymbol& symbol) {
  const SymbolId known = FindGlobal(symbol);
  if (known != kNone) {
    const std::size_t findings = diagnostics_.size();
    CheckFunction(known, symbol);
    if (diagnostics_.size() != findings) {  // the link fails; go on to find what else is wrong
      symbol_map_[index] = known;
      discarded_[index] = true;
      if (symbol.section != format::kShnUndef) {
        section_map_[symbol.section].state = Mapping::kDiscarded;
      }
      return;
    }
  }
  if (symbol.section == format::kShnUndef) return ReferToFunction(index, symbol);
  if (known != kNone && program_.symbols[known].section != kNone) {
    return MergeSecondDefinition(index, symbol, known);
  }
  DefineFunction(index, symbol, known);
}

// What a second mention of a name must agree on with the first.
void Merger::CheckFunction(SymbolId known, const InputSymbol& symbol) {
  const Symbol& first = program_.symbols[known];
  const bool is_function = first.function != kNone;
  const bool entry = (symbol.other & format::kStoEntry) != 0;
  const bool first_entry = is_function && (first.other & format::kStoEntry) != 0;
  if (entry != first_entry) {
    ReportText(DiagnosticCode::kEntryMismatch,
               format::nvlink_text::NotGlobalEverywhere(symbol.name), known);
  }
  if (!is_function) {
    Report(DiagnosticCode::kSpaceMismatch, format::nvlink_text::kMemorySpace, known);
  }
  if (symbol.section == format::kShnUndef) return;
  const bool defined = first.section != kNone || first.external_shared;
  if (defined && first.binding == format::kStbGlobal && symbol.binding == format::kStbGlobal) {
    Report(DiagnosticCode::kMultipleDefinition, format::nvlink_text::kMultipleDefinition, known);
  }
  if (!is_function || !entry || !first_entry || first.binding != format::kStbWeak ||
      symbol.binding != format::kStbWeak) {
    return;
  }
  const std::uint32_t parameters = parameters_of_[symbol.section];
  for (const SectionId id : program_.functions[first.function].constants) {
    const Section& bank = program_.sections[id];
    if (!IsParameterBank(bank) || parameters == 0) continue;
    if (bank.size != sections_[parameters].size) {
      ReportText(DiagnosticCode::kSizeMismatch,
                 format::nvlink_text::ParameterBankSizes(symbol.name), known);
    }
  }
}

void Merger::ReferToFunction(std::uint32_t index, const InputSymbol& symbol) {
  SymbolId id = FindGlobal(symbol);
  if (id == kNone) {
    id = AddSymbol(symbol, format::kSttFunc);
    program_.symbols[id].size = 0;
    program_.symbols[id].weak_reference = symbol.binding == format::kStbWeak;
    AddFunction(id);
  }
  symbol_map_[index] = id;
}

// The first definition: it may complete a symbol that an earlier input referred to.
void Merger::DefineFunction(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  const InputSection& code = sections_[symbol.section];
  const Mapping mapped = section_map_[symbol.section];
  SymbolId id = known;
  if (id == kNone) {
    id = AddSymbol(symbol, format::kSttFunc);
    AddFunction(id);
  }
  Symbol& out = program_.symbols[id];
  out.binding = symbol.binding;
  out.other = symbol.other;
  out.size = symbol.size;
  out.input = input_;
  const FunctionId function = out.function;
  program_.functions[function].registers = registers_[index];
  program_.functions[function].entry = (symbol.other & format::kStoEntry) != 0;
  if (!out.global_part) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});

  symbol_map_[index] = id;
  if (mapped.state == Mapping::kMapped) {  // a second name for code that is there
    program_.symbols[id].section = mapped.section;
    program_.functions[function].text = mapped.section;
    program_.functions[function].alias_of = program_.sections[mapped.section].function;
    program_.functions[function].entry = false;  // what it stands for is one, or is not
    return;
  }
  const SectionId text =
      AddSection(code.name, SectionKind::kText, format::kShtProgbits, code.flags, code.align);
  Section& section = program_.sections[text];
  AppendPiece(section, code.data, 0);
  section.size = code.size;
  section.registers = static_cast<std::uint8_t>(code.info >> 24);
  section.function = function;
  program_.symbols[id].section = text;
  program_.functions[function].text = text;
  AddSectionSymbol(text);
  section_map_[symbol.section] = {text, 0, Mapping::kMapped};
  // nvlink does this for an entry that -kernels-used does not name when it comes to need it.
  const bool at_once =
      options_.kernels.ByHostReferences() || options_.kernels.Wants(program_.symbols[id]);
  if (program_.functions[function].entry && at_once) AddEntrySections(function, symbol);
}

// Every entry has attributes and shared memory of its own, whether or not its module says so.
void Merger::AddEntrySections(FunctionId function, const InputSymbol& symbol) {
  const SectionId text = program_.functions[function].text;
  const SectionId info =
      AddInfoSection(names_->Concat(format::section_name::kFunctionInfo, symbol.name), text);
  program_.functions[function].info = info;
  const SectionId shared = AddEntryShared(function, symbol.name);
  MapEntryShared(symbol.section, shared, true);
}

SectionId Merger::AddEntryShared(FunctionId function, std::string_view name) {
  const SectionId shared = AddSection(names_->Concat(format::section_name::kEntryShared, name),
                                      SectionKind::kEntryShared, format::kShtNobits, 0x43, 1);
  program_.sections[shared].owner = program_.functions[function].text;
  program_.sections[shared].function = function;
  program_.functions[function].shared = shared;
  AddSectionSymbol(shared);
  return shared;
}

void Merger::MapEntryShared(std::uint32_t text_index, SectionId shared, bool take_alignment) {
  const std::uint32_t input_shared = shared_of_[text_index];
  if (input_shared == 0) return;
  if (take_alignment) {
    program_.sections[shared].align = sections_[input_shared].align;
  }
  section_map_[input_shared] = {shared, 0, Mapping::kMapped};
}

// A later definition of a function that has one. A strong copy replaces a weak one, and so does a
// weak copy that needs fewer registers; any other weak copy is discarded.
void Merger::MergeSecondDefinition(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  const Symbol& first = program_.symbols[known];
  const Function& function = program_.functions[first.function];
  if (first.binding == format::kStbWeak &&
      (symbol.binding == format::kStbGlobal || registers_[index] < function.registers)) {
    return ReplaceBody(index, symbol, known);
  }
  symbol_map_[index] = known;
  discarded_[index] = true;
  section_map_[symbol.section].state = Mapping::kDiscarded;
  surviving_[symbol.section] = first.section;
}

void Merger::ReplaceBody(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  const InputSection& code = sections_[symbol.section];
  ForgetBody(known, symbol.binding == format::kStbGlobal);
  Symbol& out = program_.symbols[known];
  out.binding = symbol.binding;
  out.other = symbol.other;
  out.size = symbol.size;
  out.input = input_;
  Function& function = program_.functions[out.function];
  function.registers = registers_[index];
  function.entry = (symbol.other & format::kStoEntry) != 0;

  Section& section = program_.sections[out.section];
  section.pieces.clear();
  AppendPiece(section, code.data, 0);
  section.size = code.size;
  section.registers = static_cast<std::uint8_t>(code.info >> 24);
  section.flags = code.flags;
  section.align = code.align;
  symbol_map_[index] = known;
  section_map_[symbol.section] = {out.section, 0, Mapping::kMapped};
  if (function.entry && function.shared != kNone) {
    MapEntryShared(symbol.section, function.shared, false);
  }
}

// Undoes what an earlier weak copy brought, as far as nvlink does: attributes, relocations,
// constants and variables of the function go; its calls stay, and so do the records of
// `.debug_frame`.
void Merger::ForgetBody(SymbolId symbol, bool by_strong_copy) {
  const Symbol& out = program_.symbols[symbol];
  const Function& function = program_.functions[out.function];
  const Section& text = program_.sections[out.section];
  const auto relocations = static_cast<std::uint32_t>(program_.relocations.size());
  replaced_.ReplaceBody(out.function, relocations, info_records_);
  // Debug relocations to the function stay, except in RELA sections where its code has relocations.
  if (text.rel != kNone || text.rela != kNone) {
    replaced_.DropDebugRelocations(symbol, relocations);
  }
  for (const SectionId id : function.constants) {
    Section& constants = program_.sections[id];
    // A strong copy of an entry leaves the parameters of the weak one where they are.
    if (by_strong_copy && IsParameterBank(constants)) continue;
    if (FindConstants(function, constants.name) != id) continue;
    replaced_.Empty(id);
    program_.residue.discarded_variables.erase(id);
    constants.pieces.clear();
    constants.size = 0;
  }
  if (function.info != kNone) {
    program_.info_lists[program_.sections[function.info].info_list].clear();
  }
}

}  // namespace devlink::internal
