// SPDX-License-Identifier: Apache-2.0
//
// Second pass over an input: its variables, and the sections that hold them.
#include <algorithm>

#include "base/align.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/nvlink_text.h"
#include "format/sections.h"
#include "merge/merger.h"

namespace devlink::internal {

namespace section_name = format::section_name;

namespace {

std::uint8_t BankOf(const InputSection& section) {
  return static_cast<std::uint8_t>(format::BankOfType(section.type));
}

}  // namespace

void Merger::MergeObjects() {
  for (std::uint32_t i = 0; i < view_->symbol_count(); ++i) {
    const InputSymbol symbol = view_->SymbolAt(i);
    if (symbol.type == format::kSttObject || symbol.type == format::kSttCudaObject) {
      MergeObject(i, symbol);
    } else if (format::IsTextureType(symbol.type)) {
      ReferToTexture(i, symbol);
    }
  }
  TrimConstants();
}

// Of a function's constants nvlink takes what variables cover. nvlink -r leaves more than that
// where it appended those of a copy that it discarded.
void Merger::TrimConstants() {
  for (std::uint32_t i = 0; i < sections_.size(); ++i) {
    const InputSection& input = sections_[i];
    const Mapping& mapping = section_map_[i];
    const std::uint64_t end = constants_end_[i];
    if (input.role != SectionRole::kFunctionConstants || mapping.state != Mapping::kMapped ||
        input.IsParameterBank() || end == 0 || end >= input.size) {
      continue;
    }
    Section& out = program_.sections[mapping.section];
    if (out.pieces.empty() || out.pieces.back().offset != mapping.base) continue;
    out.pieces.back().bytes = out.pieces.back().bytes.first(end);
    out.size = mapping.base + end;
  }
}

void Merger::MergeObject(std::uint32_t index, const InputSymbol& symbol) {
  const SymbolId known = FindGlobal(symbol);
  if (known != kNone) {
    const std::size_t findings = diagnostics_.size();
    CheckObject(known, symbol);
    if (diagnostics_.size() != findings) {
      symbol_map_[index] = known;
      return;
    }
  }
  if (symbol.section == format::kShnUndef || IsPlacedExternal(symbol)) {
    return ReferToObject(index, symbol);
  }
  if (symbol.section == format::kShnCommon) return MergeCommon(index, symbol, known);
  if (symbol.section >= format::kReservedSection) return;
  const bool common = known != kNone && program_.symbols[known].common;
  const bool defined = known != kNone && program_.symbols[known].section != kNone;
  const bool weak = symbol.binding == format::kStbWeak;
  Mapping& mapping = section_map_[symbol.section];
  const std::uint64_t room = sections_[symbol.section].size;
  if (symbol.value <= room && symbol.size <= room - symbol.value) {
    std::uint64_t& end = constants_end_[symbol.section];
    end = std::max(end, symbol.value + symbol.size);
  }
  if (options_.relocatable && IsOfDiscardedCode(symbol.section)) KeepParameterSymbol(index, symbol);
  if (mapping.state == Mapping::kDiscarded) {
    symbol_map_[index] = known;
    return;
  }
  if (IsOfDiscardedCode(symbol.section)) {
    // Its bytes may stay (MapFunctionConstants); it does not.
    mapping.has_symbols = true;
    return;
  }
  // A second copy of a weak variable does not make its section part of the output; a variable that
  // is new does.
  // An initialised weak copy ends a common one, where nvlink 13.0 crashes.
  const bool ends_common = common && IsInit(symbol) && !program_.symbols[known].common_defined;
  if (mapping.state == Mapping::kUnmapped && weak && (defined || common) && !ends_common) {
    return DiscardObject(index, symbol, known);
  }
  if (mapping.state == Mapping::kUnmapped) MapData(symbol.section, true);
  if (mapping.state != Mapping::kMapped) return;
  if (defined && weak) return DiscardObject(index, symbol, known);
  if (common && program_.sections[mapping.section].kind == SectionKind::kGlobal) {
    // It stays common and is allocated again; the bytes of this definition are never used.
    program_.symbols[known].common_defined = !weak;
    symbol_map_[index] = known;
    return;
  }
  DefineObject(index, symbol, known, mapping);
}

// `extern __shared__ x[]` as nvlink -r leaves it.
bool Merger::IsPlacedExternal(const InputSymbol& symbol) const {
  return symbol.size == 0 && symbol.section < sections_.size() &&
         sections_[symbol.section].role == SectionRole::kModuleShared;
}

// Constants of a function whose copy was discarded.
bool Merger::IsOfDiscardedCode(std::uint32_t section) const {
  const InputSection& input = sections_[section];
  return input.role == SectionRole::kFunctionConstants &&
         section_map_[input.info].state == Mapping::kDiscarded;
}

// The name of a discarded copy's parameters stays with those of the copy that stays.
void Merger::KeepParameterSymbol(std::uint32_t index, const InputSymbol& symbol) {
  const InputSection& bank = sections_[symbol.section];
  const SectionId text = surviving_[bank.info];
  if (!bank.IsParameterBank() || text == kNone) return;
  if (section_map_[symbol.section].state == Mapping::kUnmapped) MapData(symbol.section, true);
  const SectionId id =
      FindConstants(program_.functions[program_.sections[text].function], bank.name);
  if (id == kNone) return;
  DefineObject(index, symbol, kNone, {.section = id, .base = section_map_[symbol.section].base});
}

// A second copy of a weak variable.
void Merger::DiscardObject(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  symbol_map_[index] = known;
  duplicate_[index] = true;
  if (IsInit(symbol)) discarded_init_.push_back({symbol.value, symbol.value + symbol.size});
}

// What a second mention of a variable must agree on with the first.
void Merger::CheckObject(SymbolId known, const InputSymbol& symbol) {
  const Symbol& first = program_.symbols[known];
  const std::uint8_t space = symbol.other & format::kStoSpaceMask;
  const bool is_function = first.function != kNone;
  if (is_function || first.space != space) {
    Report(DiagnosticCode::kSpaceMismatch, format::nvlink_text::kMemorySpace, known);
  }
  if (!is_function && ((first.other ^ symbol.other) & format::kStoManaged) != 0) {
    Report(DiagnosticCode::kManagedMismatch, format::nvlink_text::kManagedAttribute, known);
  }
  CheckSizes(known, symbol);
  const bool first_init =
      first.section != kNone && program_.sections[first.section].kind == SectionKind::kGlobalInit;
  if (symbol.section != format::kShnUndef && first.section != kNone &&
      first.binding == format::kStbGlobal && symbol.binding == format::kStbGlobal &&
      (symbol.section != format::kShnCommon || !first_init)) {
    Report(DiagnosticCode::kMultipleDefinition, format::nvlink_text::kMultipleDefinition, known);
  }
}

bool Merger::IsInit(const InputSymbol& symbol) const {
  return symbol.section < sections_.size() &&
         sections_[symbol.section].role == SectionRole::kGlobalInit;
}

// Sizes must be equal where both are known. Common variables grow to the largest declaration, and
// an initialised definition may be larger than they are.
void Merger::CheckSizes(SymbolId known, const InputSymbol& symbol) {
  const Symbol& first = program_.symbols[known];
  const bool second_common = symbol.section == format::kShnCommon;
  const bool first_init =
      first.section != kNone && program_.sections[first.section].kind == SectionKind::kGlobalInit;
  // `extern x[]` says nothing, unless nvlink -r has made a variable without size of it.
  const bool unsized = symbol.size == 0 && symbol.section == format::kShnUndef;
  if (first.size == 0 || unsized || first.size == symbol.size) return;
  if (first.common && second_common) return;
  if ((first.common && IsInit(symbol)) || (second_common && first_init)) {
    const std::uint64_t common = first.common ? first.size : symbol.size;
    const std::uint64_t init = first.common ? symbol.size : first.size;
    if (common <= init) return;
    const std::string& file = first.common ? inputs_[first.input].name : CurrentName();
    ReportText(DiagnosticCode::kSizeMismatch,
               format::nvlink_text::CommonLargerThanInit(symbol.name, file), known);
    return;
  }
  Report(DiagnosticCode::kSizeMismatch, format::nvlink_text::kSize, known);
}

void Merger::MergeCommon(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  SymbolId id = known;
  if (id == kNone) {
    id = AddSymbol(symbol, ObjectType(symbol));
    MakeCommon(id, symbol);
  } else {
    Symbol& out = program_.symbols[id];
    const bool weak_memory = out.binding == format::kStbWeak && out.section != kNone &&
                             program_.sections[out.section].kind == SectionKind::kGlobal;
    if (out.common) {
      out.size = std::max(out.size, symbol.size);
    } else if (out.section == kNone || weak_memory) {
      // A weak variable gives up its place to the common one.
      if (out.section == kNone) out.binding = symbol.binding;
      out.size = symbol.size;
      out.section = kNone;
      out.input = input_;
      MakeCommon(id, symbol);
    }
  }
  symbol_map_[index] = id;
}

void Merger::MakeCommon(SymbolId id, const InputSymbol& symbol) {
  Symbol& out = program_.symbols[id];
  out.common = true;
  out.space = symbol.other & format::kStoSpaceMask;
  out.align = static_cast<std::uint32_t>(symbol.value);
  if (!out.global_part) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});
  program_.commons.push_back(id);
}

// Common variables come at the end of `.nv.global`, the last one first.
void Merger::AllocateCommons() {
  for (auto id = program_.commons.rbegin(); id != program_.commons.rend(); ++id) {
    Symbol& symbol = program_.symbols[*id];
    if (!symbol.common) continue;
    SectionId global = FindByName(section_name::kGlobal);
    if (global == kNone) {
      global = AddSection(section_name::kGlobal, SectionKind::kGlobal, format::kShtNobits, 3,
                          symbol.align);
      named_[section_name::kGlobal] = global;
      AddSectionSymbol(global);
    }
    Section& section = program_.sections[global];
    Symbol& out = program_.symbols[*id];
    out.value = base::AlignUp(section.size, out.align);
    out.section = global;
    out.common = false;
    section.size = out.value + out.size;
    section.align = std::max(section.align, out.align);
  }
}

void Merger::DefineObject(std::uint32_t index, const InputSymbol& symbol, SymbolId known,
                          const Mapping& mapping) {
  const SymbolId id = known != kNone ? known : AddSymbol(symbol, ObjectType(symbol));
  Symbol& out = program_.symbols[id];
  const Section& section = program_.sections[mapping.section];
  out.common = false;
  out.section = mapping.section;
  replaced_.Define(id, mapping.section);
  out.size = symbol.size;
  out.binding = symbol.binding;
  out.other = symbol.other & static_cast<std::uint8_t>(~format::kStoSpaceMask);
  out.space = symbol.other & format::kStoSpaceMask;
  out.input = input_;
  if (out.space == format::kStoShared) {
    out.align = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, symbol.value));
    if (options_.relocatable && !out.external_shared) out.value = symbol.value;
    if (!out.external_shared) program_.shared_definitions.push_back(id);
    if (section.kind == SectionKind::kModuleShared) {
      program_.module_shared_align = std::max(program_.module_shared_align, out.align);
    }
  } else {
    out.value = mapping.base + symbol.value;
  }
  if (!out.global_part) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});
  symbol_map_[index] = id;
}

void Merger::ReferToTexture(std::uint32_t index, const InputSymbol& symbol) {
  SymbolId id = FindGlobal(symbol);
  if (id == kNone) {
    InputSymbol reference = symbol;
    reference.binding = format::kStbGlobal;
    id = AddSymbol(reference, symbol.type);
  }
  symbol_map_[index] = id;
}

void Merger::ReferToObject(std::uint32_t index, const InputSymbol& symbol) {
  if (symbol.binding == format::kStbLocal && (symbol.other & format::kStoInternal) != 0) {
    // `.nv.ptx.const0.size` of the device runtime: a number that the linker fills in.
    const SymbolId id =
        AddSymbol(symbol, options_.relocatable ? format::kSttCudaObject : format::kSttObject);
    program_.symbols[id].constant_size = true;
    if (options_.relocatable) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});
    symbol_map_[index] = id;
    return;
  }
  SymbolId id = FindGlobal(symbol);
  if (id == kNone) {
    InputSymbol reference = symbol;
    // Whatever it was, nvlink makes it that, but for what an earlier nvlink -r made up.
    const bool made_up =
        symbol.binding == format::kStbWeak && (symbol.other & format::kStoInternal) != 0;
    if (!made_up) reference.binding = format::kStbGlobal;
    const bool external_shared =
        (symbol.other & format::kStoSpaceMask) == format::kStoShared && symbol.size == 0;
    if (external_shared) MapExternalShared();
    id = AddSymbol(reference, ObjectType(symbol));
    if (made_up) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});
    program_.symbols[id].weak_reference = symbol.binding == format::kStbWeak;
    if (options_.relocatable && symbol.type == format::kSttCudaObject) {
      program_.symbols[id].value = ~std::uint64_t{0};  // nvlink's mark of the undefined
    }
    if (external_shared) {
      program_.symbols[id].external_shared = true;
      program_.symbols[id].value = symbol.value;  // where nvlink -r has placed it, otherwise 0
      program_.shared_definitions.push_back(id);
    }
  }
  symbol_map_[index] = id;
}

// `extern __shared__ x[]` is taken for a variable of all files.
void Merger::MapExternalShared() {
  if (program_.module_shared == kNone) {
    program_.module_shared = AddSection(section_name::kModuleShared, SectionKind::kModuleShared,
                                        format::kShtNobits, 3, 1);
    named_[section_name::kModuleShared] = program_.module_shared;
    AddSectionSymbol(program_.module_shared);
  }
  Section& shared = program_.sections[program_.module_shared];
  shared.align = std::max(shared.align, format::kExternalSharedAlign);
}

// Appends a whole data section of the input to the output section of the same name.
void Merger::MapData(std::uint32_t index, bool by_variable) {
  const InputSection& section = sections_[index];
  if (section.role == SectionRole::kFunctionConstants)
    return MapFunctionConstants(index, by_variable);
  if (section.role == SectionRole::kEntryShared) return MapLocals(index);
  const bool nobits = format::IsNobitsType(section.type);
  SectionId id = FindByName(section.name);
  if (id == kNone) {
    id = AddSection(section.name, section.role, nobits ? format::kShtNobits : format::kShtProgbits,
                    section.flags, section.align);
    named_[section.name] = id;
    AddSectionSymbol(id);
    if (section.role == SectionRole::kModuleShared) program_.module_shared = id;
    if (section.role == SectionRole::kConstantBank) {
      program_.sections[id].bank = BankOf(section);
      if (program_.sections[id].bank == format::kVariableBank) program_.constant_bank3 = id;
    }
  }
  Section& out = program_.sections[id];
  const std::uint64_t base = base::AlignUp(out.size, section.align);
  out.align = std::max(out.align, section.align);
  if (id == program_.constant_bank3) packing_.Add(section.data, section.align);
  if (!nobits) AppendPiece(out, section.data, base);
  out.size = base + section.size;
  section_map_[index] = {id, base, Mapping::kMapped};
}

// Shared memory of an entry that got none when it was defined, as nobody asked for it; or of one
// whose copy was discarded, for which nvlink makes room all the same.
void Merger::MapLocals(std::uint32_t index) {
  const InputSection& section = sections_[index];
  const Mapping& code = section_map_[section.info];
  if (code.state == Mapping::kMapped) {
    const FunctionId function = program_.sections[code.section].function;
    if (!program_.functions[function].entry || program_.functions[function].shared != kNone) return;
    const Symbol& symbol = program_.symbols[program_.functions[function].symbol];
    MapEntryShared(section.info, AddEntryShared(function, symbol.name), true);
    return;
  }
  const SectionId text = surviving_[section.info];
  Mapping& mapping = section_map_[index];
  mapping.state = Mapping::kDiscarded;
  if (text == kNone) return;
  const SectionId shared = program_.functions[program_.sections[text].function].shared;
  if (shared != kNone) mapping = {shared, 0, Mapping::kMapped};
}

SectionId Merger::FindConstants(const Function& function, std::string_view name) const {
  SectionId found = kNone;
  for (const SectionId id : function.constants) {
    if (program_.sections[id].name != name) continue;
    found = id;
    if (!function.entry) break;
  }
  return found;
}

// Constants of one function. Those of a discarded copy stay all the same, unused, behind those of
// the copy that stays; the parameter bank does so only where a strong copy met a weak one.
void Merger::MapFunctionConstants(std::uint32_t index, bool by_variable) {
  const InputSection& section = sections_[index];
  const Mapping& code = section_map_[section.info];
  const bool kept = code.state == Mapping::kMapped;
  const SectionId text = kept ? code.section : surviving_[section.info];
  const bool parameters = section.IsParameterBank();
  Mapping& mapping = section_map_[index];
  mapping.state = Mapping::kDiscarded;
  if (text == kNone) return;

  const Function& function = program_.functions[program_.sections[text].function];
  const SectionId known = FindConstants(function, section.name);
  // A section that only a discarded copy brought is not that of a body that now takes its place.
  const bool stranger =
      known != kNone && kept && program_.sections[known].stays_in_place && replaced_.IsEmpty(known);
  bool stray = !kept && mapping.has_symbols;
  if (known == kNone || stranger) {
    if (!kept && parameters) return;
    const SectionId added = AddFunctionConstants(section, text);
    AppendConstants(added, index, 0);
    program_.sections[added].stays_in_place = !kept || (!by_variable && !parameters);
  } else if (replaced_.IsEmpty(known)) {
    if (!kept && parameters) return;
    AppendConstants(known, index, 0);
  } else {
    const bool weak_only = program_.symbols[function.symbol].binding == format::kStbWeak;
    if (parameters && weak_only) return;
    AppendConstants(known, index, base::AlignUp(program_.sections[known].size, section.align));
    stray = stray || (kept && !by_variable);  // a second section of nvlink -r, without variables
  }
  if (parameters) return;
  if (stray) program_.residue.discarded_variables[mapping.section] = mapping.base;
  if (!kept) mapping.state = Mapping::kDiscarded;
}

void Merger::AppendConstants(SectionId id, std::uint32_t index, std::uint64_t offset) {
  const InputSection& section = sections_[index];
  Section& out = program_.sections[id];
  replaced_.Fill(id);
  AppendPiece(out, section.data, offset);
  out.size = offset + section.size;
  out.align = std::max(out.align, section.align);
  Mapping& mapping = section_map_[index];
  mapping.section = id;
  mapping.base = offset;
  mapping.state = Mapping::kMapped;
}

SectionId Merger::AddFunctionConstants(const InputSection& section, SectionId text) {
  const auto id = static_cast<SectionId>(program_.sections.size());
  Section& out = program_.sections.emplace_back();
  out.name = section.name;
  out.kind = SectionKind::kFunctionConstants;
  out.type = format::kShtProgbits;
  out.flags = section.flags;
  out.bank = BankOf(section);
  out.owner = text;
  out.function = program_.sections[text].function;
  program_.functions[out.function].constants.push_back(id);
  // Bank 0 brings the name of a relocation section that never exists with it.
  program_.section_names.push_back({.text = section.name, .section = id});
  if (section.IsParameterBank() && !options_.relocatable) {
    const std::string_view rel = names_->Concat(section_name::kRel, section.name);
    program_.section_names.push_back({.text = rel, .section = id});
    program_.symbol_names.push_back({.text = rel, .section = id});
  }
  program_.symbol_names.push_back({.text = section.name, .section = id});
  AddSectionSymbol(id);
  return id;
}

}  // namespace devlink::internal
