// SPDX-License-Identifier: Apache-2.0
#include "merge/function_merge.h"

#include <algorithm>

#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/nvlink_text.h"
#include "model/code_places.h"

namespace devlink::internal {

void FunctionMerge::Run() {
  sized_functions_.clear();
  for (std::uint32_t i = 0; i < input_.view->symbol_count(); ++i) {
    if (input_.view->SymbolTypeAt(i) != format::kSttFunc || input_.symbols[i] != kNone) continue;
    const InputSymbol symbol = input_.view->SymbolAt(i);
    if (IsPartOfCode(*input_.view, input_.sections, i, symbol)) {
      MergePart(i, symbol);
      continue;
    }
    if (symbol.size == 0) MergeAliased(symbol);
    MergeFunction(i, symbol);
  }
}

// An alias, which has no size, comes behind the function whose code it names. nvlink -r writes them
// in any order.
void FunctionMerge::MergeAliased(const InputSymbol& alias) {
  if (alias.section >= input_.section_map.size() ||
      input_.section_map[alias.section].state != SectionMapping::kUnmapped) {
    return;
  }
  if (sized_functions_.empty()) {
    sized_functions_.assign(input_.sections.size(), kNone);
    for (std::uint32_t i = input_.view->symbol_count(); i-- > 0;) {
      if (input_.view->SymbolTypeAt(i) != format::kSttFunc) continue;
      const InputSymbol symbol = input_.view->SymbolAt(i);
      if (symbol.size != 0 && symbol.section < input_.sections.size()) {
        sized_functions_[symbol.section] = i;
      }
    }
  }
  const std::uint32_t real = sized_functions_[alias.section];
  if (real != kNone && input_.symbols[real] == kNone)
    MergeFunction(real, input_.view->SymbolAt(real));
}

// It comes behind the function that it is a part of, and goes with its code.
void FunctionMerge::MergePart(std::uint32_t index, const InputSymbol& part) {
  const std::uint32_t whole = FunctionOf(*input_.view, input_.sections[part.section]);
  if (input_.symbols[whole] == kNone) MergeFunction(whole, input_.view->SymbolAt(whole));
  CheckPart(part);
  const SectionMapping& code = input_.section_map[part.section];
  if (code.state != SectionMapping::kMapped) {
    input_.discarded[index] = true;
    return;
  }
  const SymbolId id = builder_.AddSymbol(part, format::kSttFunc);
  program_.symbols[id].section = code.section;
  program_.symbols[id].value = part.value;
  if (!program_.symbols[id].global_part) {
    program_.symbol_names.push_back({.text = part.name, .symbol = id});
  }
  input_.symbols[index] = id;
}

// Weak ones may be there as often as their kernel is.
void FunctionMerge::CheckPart(const InputSymbol& part) {
  const SymbolId known = builder_.FindGlobal(part);
  if (known == kNone) return;
  const Symbol& first = program_.symbols[known];
  const bool is_part = first.type == format::kSttFunc && first.function == kNone;
  if (is_part && part.binding == format::kStbWeak && first.binding == format::kStbWeak) return;
  if (is_part && part.binding == format::kStbGlobal && first.binding == format::kStbGlobal) {
    return findings_.Report(builder_, DiagnosticCode::kMultipleDefinition,
                            format::nvlink_text::kMultipleDefinition, known);
  }
  findings_.ReportLost(
      base::Cat({"'", part.name, "' is a part of a kernel in it, and not that in '",
                 findings_.NameOf(first.input), "'"}));
}

void FunctionMerge::MergeFunction(std::uint32_t index, const InputSymbol& symbol) {
  const SymbolId known = builder_.FindGlobal(symbol);
  if (known != kNone) {
    const std::size_t findings = findings_.count();
    Check(known, symbol);
    const bool odd = HasOddBank(known, symbol);
    if (odd) MarkOddBank(known, symbol);
    if (odd || findings_.count() != findings) {  // the link fails; go on to find what else is wrong
      input_.symbols[index] = known;
      input_.discarded[index] = true;
      if (symbol.section != format::kShnUndef) {
        input_.section_map[symbol.section].state = SectionMapping::kDiscarded;
      }
      return;
    }
  }
  if (symbol.section == format::kShnUndef) return ReferTo(index, symbol, known);
  if (known != kNone && program_.symbols[known].section != kNone) {
    return MergeSecondDefinition(index, symbol, known);
  }
  Define(index, symbol, known);
}

// What a second mention of a name must agree on with the first.
void FunctionMerge::Check(SymbolId known, const InputSymbol& symbol) {
  const Symbol& first = program_.symbols[known];
  const bool is_function = first.function != kNone;
  const bool is_kernel = (symbol.other & format::kStoEntry) != 0;
  const bool first_is_kernel = is_function && (first.other & format::kStoEntry) != 0;
  if (is_kernel != first_is_kernel) {
    findings_.ReportText(program_, DiagnosticCode::kEntryMismatch,
                         format::nvlink_text::NotGlobalEverywhere(symbol.name), known);
  }
  if (!is_function) {
    findings_.Report(builder_, DiagnosticCode::kSpaceMismatch, format::nvlink_text::kMemorySpace,
                     known);
  }
  if (symbol.section == format::kShnUndef) return;
  const bool defined = first.section != kNone || first.external_shared;
  if (defined && first.binding == format::kStbGlobal && symbol.binding == format::kStbGlobal) {
    findings_.Report(builder_, DiagnosticCode::kMultipleDefinition,
                     format::nvlink_text::kMultipleDefinition, known);
  }
}

// Of two weak copies of a kernel.
bool FunctionMerge::HasOddBank(SymbolId known, const InputSymbol& symbol) const {
  const Symbol& first = program_.symbols[known];
  if (first.function == kNone || symbol.section == format::kShnUndef ||
      (symbol.other & first.other & format::kStoEntry) == 0 || first.binding != format::kStbWeak ||
      symbol.binding != format::kStbWeak) {
    return false;
  }
  const std::uint32_t parameters = input_.parameters_of[symbol.section];
  if (parameters == 0) return false;
  return std::ranges::any_of(program_.functions[first.function].constants, [&](SectionId id) {
    const Section& bank = program_.sections[id];
    return IsParameterBank(bank) && bank.size != input_.sections[parameters].size;
  });
}

void FunctionMerge::MarkOddBank(SymbolId kernel, const InputSymbol& symbol) {
  input_.odd_banks.resize(input_.sections.size(), kNone);
  input_.odd_banks[input_.parameters_of[symbol.section]] = kernel;
}

// nvlink looks for the bank of a weak kernel by its name, and may find that of a static one.
void FunctionMerge::CompareWithStatic(SymbolId kernel, const InputSymbol& symbol) {
  const std::uint32_t parameters = input_.parameters_of[symbol.section];
  if (parameters == 0) return;
  const std::uint64_t size = input_.sections[parameters].size;
  if (symbol.binding == format::kStbLocal) {
    static_banks_.try_emplace(symbol.name, size);
  } else if (symbol.binding == format::kStbWeak) {
    const auto found = static_banks_.find(symbol.name);
    if (found != static_banks_.end() && found->second != size) MarkOddBank(kernel, symbol);
  }
}

void FunctionMerge::ReferTo(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  SymbolId id = known;
  if (id == kNone) {
    id = builder_.AddSymbol(symbol, format::kSttFunc);
    program_.symbols[id].size = 0;
    program_.symbols[id].weak_reference = symbol.binding == format::kStbWeak;
    builder_.AddFunction(id);
  }
  input_.symbols[index] = id;
}

// The first definition: it may complete a symbol that an earlier input referred to.
void FunctionMerge::Define(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  const InputSection& code = input_.sections[symbol.section];
  const SectionMapping mapped = input_.section_map[symbol.section];
  SymbolId id = known;
  if (id == kNone) {
    id = builder_.AddSymbol(symbol, format::kSttFunc);
    builder_.AddFunction(id);
  }
  Symbol& out = program_.symbols[id];
  out.binding = symbol.binding;
  out.other = symbol.other;
  out.size = symbol.size;
  out.input = input_.id;
  const FunctionId function = out.function;
  arch_of_first_.resize(program_.functions.size());
  arch_of_first_[function] = input_.virtual_arch;
  program_.functions[function].registers = input_.registers[index];
  program_.functions[function].is_kernel = (symbol.other & format::kStoEntry) != 0;
  program_.functions[function].is_laid_out = input_.view->extensible();
  if (!out.global_part) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});

  input_.symbols[index] = id;
  if (mapped.state == SectionMapping::kMapped) {  // a second name for code that is there
    program_.symbols[id].section = mapped.section;
    program_.functions[function].text = mapped.section;
    program_.functions[function].alias_of = program_.sections[mapped.section].function;
    program_.functions[function].is_kernel = false;  // what it stands for is one, or is not
    return;
  }
  const SectionId text = builder_.AddSection(code.name, SectionKind::kText, format::kShtProgbits,
                                             code.flags, code.align);
  Section& section = program_.sections[text];
  AppendPiece(section, code.data, 0);
  section.size = code.size;
  section.registers = format::RegistersOfCode(code.info);
  section.function = function;
  program_.symbols[id].section = text;
  program_.functions[function].text = text;
  builder_.AddSectionSymbol(text);
  input_.section_map[symbol.section] = {text, 0, SectionMapping::kMapped};
  if (joins_static_kernels_ && program_.functions[function].is_kernel) {
    CompareWithStatic(id, symbol);
  }
  // nvlink does this for a kernel that -kernels-used does not name when it comes to need it; it
  // does not ask again what is called so where an earlier file refers to it.
  const bool at_once =
      known != kNone || kernels_.ByHostReferences() || kernels_.Wants(program_.symbols[id]);
  if (program_.functions[function].is_kernel && at_once) kernel_sections_.Add(function, symbol);
}

// A later definition of a function that has one. A strong copy replaces a weak one, and so does a
// weak copy that needs fewer registers, or as many and was compiled for a newer virtual
// architecture than the first copy; any other weak copy is discarded.
void FunctionMerge::MergeSecondDefinition(std::uint32_t index, const InputSymbol& symbol,
                                          SymbolId known) {
  const Symbol& first = program_.symbols[known];
  const Function& function = program_.functions[first.function];
  const std::uint32_t registers = input_.registers[index];
  const bool newer = input_.virtual_arch > arch_of_first_[first.function];
  if (first.input == input_.id) findings_.ReportDefinedTwice(symbol.name);
  if (first.binding == format::kStbWeak &&
      (symbol.binding == format::kStbGlobal || registers < function.registers ||
       (registers == function.registers && newer))) {
    return ReplaceBody(index, symbol, known);
  }
  input_.symbols[index] = known;
  input_.discarded[index] = true;
  input_.section_map[symbol.section].state = SectionMapping::kDiscarded;
  input_.surviving[symbol.section] = first.section;
}

void FunctionMerge::ReplaceBody(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  const InputSection& code = input_.sections[symbol.section];
  ForgetBody(known, symbol.binding == format::kStbGlobal);
  Symbol& out = program_.symbols[known];
  out.binding = symbol.binding;
  out.other = symbol.other;
  out.size = symbol.size;
  builder_.TakeOver(known);
  Function& function = program_.functions[out.function];
  function.registers = input_.registers[index];
  function.is_kernel = (symbol.other & format::kStoEntry) != 0;
  function.is_laid_out = input_.view->extensible();

  Section& section = program_.sections[out.section];
  section.pieces.clear();
  AppendPiece(section, code.data, 0);
  section.size = code.size;
  section.registers = format::RegistersOfCode(code.info);
  section.flags = code.flags;
  section.align = code.align;
  input_.symbols[index] = known;
  input_.section_map[symbol.section] = {out.section, 0, SectionMapping::kMapped};
  if (function.is_kernel && function.shared != kNone) {
    kernel_sections_.MapShared(symbol.section, function.shared, false);
  }
}

// Undoes what an earlier weak copy brought, as far as nvlink does: attributes, relocations,
// constants and variables of the function go; its calls stay, and so do the records of
// `.debug_frame`.
void FunctionMerge::ForgetBody(SymbolId symbol, bool by_strong_copy) {
  const Symbol& out = program_.symbols[symbol];
  const Function& function = program_.functions[out.function];
  const Section& text = program_.sections[out.section];
  const auto relocations = static_cast<std::uint32_t>(program_.relocations.size());
  replaced_.ReplaceBody(out.function, relocations, builder_.info_records);
  // Debug relocations to the function stay, except in RELA sections where its code has relocations.
  if (text.rel != kNone || text.rela != kNone) {
    replaced_.DropDebugRelocations(symbol, relocations);
  }
  constants_.Empty(function, by_strong_copy);
  if (function.info != kNone) {
    program_.info_lists[program_.sections[function.info].info_list].clear();
  }
}

}  // namespace devlink::internal
