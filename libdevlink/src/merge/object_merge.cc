// SPDX-License-Identifier: Apache-2.0
#include "merge/object_merge.h"

#include <algorithm>
#include <functional>
#include <string>

#include "base/align.h"
#include "base/strings.h"
#include "format/driver_names.h"
#include "format/nvlink_text.h"
#include "format/sections.h"
#include "format/sm_traits.h"

namespace devlink::internal {

namespace section_name = format::section_name;

void ObjectMerge::Run() {
  constants_numbered_ = 0;
  for (std::uint32_t i = 0; i < input_.view->symbol_count(); ++i) {
    const std::uint8_t type = input_.view->SymbolTypeAt(i);
    if (type == format::kSttObject || type == format::kSttCudaObject) {
      MergeObject(i, input_.view->SymbolAt(i));
    } else if (format::IsTextureType(type)) {
      ReferToTexture(i, input_.view->SymbolAt(i));
    }
  }
  constants_.Trim();
}

void ObjectMerge::MergeObject(std::uint32_t index, const InputSymbol& symbol) {
  findings_.ReportOddBank(program_, input_, symbol.section);
  const SymbolId known = builder_.FindGlobal(symbol);
  if (known != kNone) {
    const std::size_t findings = findings_.count();
    Check(known, symbol);
    if (findings_.count() != findings) {
      input_.symbols[index] = known;
      return;
    }
  }
  if (symbol.section == format::kShnUndef || IsPlacedExternal(symbol)) {
    return ReferTo(index, symbol, known);
  }
  if (symbol.section == format::kShnCommon) return MergeCommon(index, symbol, known);
  if (symbol.section >= format::kReservedSection) return;
  const bool common = known != kNone && program_.symbols[known].common;
  const bool defined = known != kNone && program_.symbols[known].section != kNone;
  if ((defined || common) && program_.symbols[known].input == input_.id) {
    findings_.ReportDefinedTwice(symbol.name);
  }
  const bool weak = symbol.binding == format::kStbWeak;
  SectionMapping& mapping = input_.section_map[symbol.section];
  const bool of_function = input_.sections[symbol.section].role == SectionRole::kFunctionConstants;
  const std::uint64_t room =
      of_function ? format::kMaxConstantBank : input_.sections[symbol.section].size;
  if (symbol.value <= room && symbol.size <= room - symbol.value) {
    std::uint64_t& end = input_.constants_end[symbol.section];
    end = std::max(end, symbol.value + symbol.size);
  }
  if ((relocatable_ || builder_.preserve_resolved) && IsOfDiscardedCode(symbol.section)) {
    KeepParameterSymbol(index, symbol);
  }
  if (of_function && NumbersConstants()) ++constants_numbered_;
  if (mapping.state == SectionMapping::kDiscarded) {
    input_.symbols[index] = known;
    return;
  }
  if (IsOfDiscardedCode(symbol.section)) {
    // Its bytes may stay (FunctionConstants::Map); it does not.
    mapping.has_symbols = true;
    return;
  }
  // A second copy of a weak variable does not make its section part of the output; a variable that
  // is new does.
  // An initialised weak copy ends a common one, where nvlink 13.0 crashes.
  const bool ends_common = common && IsInit(symbol) && !program_.symbols[known].common_defined;
  if (mapping.state == SectionMapping::kUnmapped && weak && (defined || common) && !ends_common) {
    return Discard(index, symbol, known);
  }
  if (mapping.state == SectionMapping::kUnmapped) data_.Map(symbol.section, true);
  if (mapping.state != SectionMapping::kMapped) return;
  if (defined && weak) return Discard(index, symbol, known);
  if (common && program_.sections[mapping.section].kind == SectionKind::kGlobal) {
    // It stays common and is allocated again; the bytes of this definition are never used.
    if (!weak) {
      program_.symbols[known].common_defined = true;
      program_.symbols[known].binding = symbol.binding;
    }
    input_.symbols[index] = known;
    return;
  }
  Define(index, symbol, known, mapping);
}

// Where they stay, the compiler's constants of each file are numbered, those of discarded copies as
// well, which do not stay.
bool ObjectMerge::NumbersConstants() const {
  return (relocatable_ || builder_.preserve_resolved) &&
         program_.view == format::ViewKind::kMercury;
}

// `extern __shared__ x[]` as nvlink -r leaves it.
bool ObjectMerge::IsPlacedExternal(const InputSymbol& symbol) const {
  return symbol.size == 0 && symbol.section < input_.sections.size() &&
         input_.sections[symbol.section].role == SectionRole::kModuleShared;
}

// Constants of a function whose copy was discarded.
bool ObjectMerge::IsOfDiscardedCode(std::uint32_t section) const {
  const InputSection& input = input_.sections[section];
  return input.role == SectionRole::kFunctionConstants &&
         input_.section_map[input.info].state == SectionMapping::kDiscarded;
}

// The name of a discarded copy's parameters stays with those of the copy that stays.
void ObjectMerge::KeepParameterSymbol(std::uint32_t index, const InputSymbol& symbol) {
  const InputSection& bank = input_.sections[symbol.section];
  const SectionId text = input_.surviving[bank.info];
  if (!bank.IsParameterBank() || text == kNone) return;
  if (input_.section_map[symbol.section].state == SectionMapping::kUnmapped)
    data_.Map(symbol.section, true);
  const SectionId id =
      constants_.Find(program_.functions[program_.sections[text].function], bank.name);
  if (id == kNone) return;
  Define(index, symbol, kNone, {.section = id, .base = input_.section_map[symbol.section].base});
}

// A second copy of a weak variable.
void ObjectMerge::Discard(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  input_.symbols[index] = known;
  input_.duplicate[index] = true;
  const bool is_constant = symbol.section < input_.sections.size() &&
                           input_.sections[symbol.section].role == SectionRole::kConstantBank;
  if (!is_constant && !IsInit(symbol)) return;
  input_.discarded_data.push_back({symbol.section, symbol.value, symbol.value + symbol.size});
}

// What a second mention of a variable must agree on with the first.
void ObjectMerge::Check(SymbolId known, const InputSymbol& symbol) {
  const Symbol& first = program_.symbols[known];
  const std::uint8_t space = symbol.other & format::kStoSpaceMask;
  const bool is_function = first.function != kNone;
  if (is_function || first.space != space) {
    findings_.Report(builder_, DiagnosticCode::kSpaceMismatch, format::nvlink_text::kMemorySpace,
                     known);
  }
  if (!is_function && ((first.other ^ symbol.other) & format::kStoManaged) != 0) {
    findings_.Report(builder_, DiagnosticCode::kManagedMismatch,
                     format::nvlink_text::kManagedAttribute, known);
  }
  CheckSizes(known, symbol);
  const bool first_init =
      first.section != kNone && program_.sections[first.section].kind == SectionKind::kGlobalInit;
  // `extern __shared__ x[]` counts as a definition beside variables that are not shared.
  const bool defined = first.section != kNone || first.common_defined ||
                       (first.external_shared && first.space != space);
  if (symbol.section != format::kShnUndef && defined && first.binding == format::kStbGlobal &&
      symbol.binding == format::kStbGlobal &&
      (symbol.section != format::kShnCommon || !first_init)) {
    findings_.Report(builder_, DiagnosticCode::kMultipleDefinition,
                     format::nvlink_text::kMultipleDefinition, known);
  }
}

bool ObjectMerge::IsInit(const InputSymbol& symbol) const {
  return symbol.section < input_.sections.size() &&
         input_.sections[symbol.section].role == SectionRole::kGlobalInit;
}

// Sizes must be equal where both are known. Common variables grow to the largest declaration, and
// an initialised definition may be larger than they are.
void ObjectMerge::CheckSizes(SymbolId known, const InputSymbol& symbol) {
  const Symbol& first = program_.symbols[known];
  const bool second_common = symbol.section == format::kShnCommon;
  const bool first_init =
      first.section != kNone && program_.sections[first.section].kind == SectionKind::kGlobalInit;
  // `extern x[]` says nothing, unless nvlink -r has made a variable without size of it.
  const bool unsized = symbol.size == 0 && symbol.section == format::kShnUndef;
  const bool sized = first.size != 0 || (first.external_shared && second_common);
  if (!sized || unsized || first.size == symbol.size) return;
  const bool first_common = first.common && !first.common_defined;
  if (first_common && second_common) return;
  if ((first_common && IsInit(symbol)) || (second_common && first_init)) {
    const std::uint64_t common = first_common ? first.size : symbol.size;
    const std::uint64_t init = first_common ? symbol.size : first.size;
    if (common <= init) return;
    const std::string& file =
        first_common ? findings_.NameOf(first.input) : findings_.CurrentName();
    findings_.ReportText(program_, DiagnosticCode::kSizeMismatch,
                         format::nvlink_text::CommonLargerThanInit(symbol.name, file), known);
    return;
  }
  findings_.Report(builder_, DiagnosticCode::kSizeMismatch, format::nvlink_text::kSize, known);
}

void ObjectMerge::MergeCommon(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  SymbolId id = known;
  if (id == kNone) {
    id = builder_.AddSymbol(symbol, TypeOf(symbol));
    MakeCommon(id, symbol);
  } else {
    Symbol& out = program_.symbols[id];
    const bool weak_memory = out.binding == format::kStbWeak && out.section != kNone &&
                             program_.sections[out.section].kind == SectionKind::kGlobal;
    if (out.common) {
      if (symbol.size > out.size) {  // the largest one counts, in messages, too
        out.size = symbol.size;
        builder_.StartOver(id);
      }
    } else if (out.section == kNone || weak_memory) {
      // A weak variable gives up its place to the common one.
      if (out.section == kNone) out.binding = symbol.binding;
      out.size = symbol.size;
      out.section = kNone;
      builder_.StartOver(id);
      MakeCommon(id, symbol);
    }
  }
  input_.symbols[index] = id;
}

void ObjectMerge::MakeCommon(SymbolId id, const InputSymbol& symbol) {
  Symbol& out = program_.symbols[id];
  out.common = true;
  out.space = symbol.other & format::kStoSpaceMask;
  out.align = static_cast<std::uint32_t>(symbol.value);
  if (!out.global_part) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});
  program_.commons.push_back(id);
}

// Common variables come at the end of `.nv.global`, the last one first.
void ObjectMerge::AllocateCommons() {
  for (auto id = program_.commons.rbegin(); id != program_.commons.rend(); ++id) {
    Symbol& symbol = program_.symbols[*id];
    if (!symbol.common) continue;
    SectionId global = builder_.FindByName(section_name::kGlobal);
    if (global == kNone) {
      global = builder_.AddSection(section_name::kGlobal, SectionKind::kGlobal, format::kShtNobits,
                                   3, symbol.align);
      builder_.Name(section_name::kGlobal, global);
      builder_.AddSectionSymbol(global);
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

void ObjectMerge::Define(std::uint32_t index, const InputSymbol& symbol, SymbolId known,
                         const SectionMapping& mapping) {
  const SymbolId id = known != kNone ? known : builder_.AddSymbol(symbol, TypeOf(symbol));
  Symbol& out = program_.symbols[id];
  const Section& section = program_.sections[mapping.section];
  if (NumbersConstants() && section.kind == SectionKind::kFunctionConstants) {
    out.name =
        builder_.Concat(builder_.Concat(section.name, "."), std::to_string(constants_numbered_));
  }
  if (out.common) {
    builder_.StartOver(id);
  } else {
    builder_.TakeOver(id);
  }
  out.common = false;
  out.section = mapping.section;
  replaced_.Define(id, mapping.section);
  out.size = symbol.size;
  out.binding = symbol.binding;
  out.other = symbol.other & static_cast<std::uint8_t>(~format::kStoSpaceMask);
  out.space = symbol.other & format::kStoSpaceMask;
  if (out.space == format::kStoShared) {
    out.align = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, symbol.value));
    if (relocatable_ && !out.external_shared) out.value = symbol.value;
    if (!out.external_shared) program_.shared_definitions.push_back(id);
    if (section.kind == SectionKind::kModuleShared) {
      program_.module_shared_align = std::max(program_.module_shared_align, out.align);
    }
  } else if (out.space == format::kStoReservedShared) {
    PlaceReserved(id, symbol.value);
  } else {
    out.value = mapping.base + symbol.value;
    if (mends_sizes_ && section.kind == SectionKind::kGlobal) {
      Section& memory = program_.sections[mapping.section];
      memory.size = std::max(memory.size, out.value + out.size);
    }
  }
  if (!out.global_part) program_.symbol_names.push_back({.text = out.name, .symbol = id});
  input_.symbols[index] = id;
}

// In an input the value of such a variable is its alignment, and it stays that with -r.
void ObjectMerge::PlaceReserved(SymbolId id, std::uint64_t align) {
  Symbol& symbol = program_.symbols[id];
  if (symbol.name == format::kOldTensorMemory || symbol.name == format::kTensorMemory) {
    if (tensor_memory_ != kNone && program_.symbols[tensor_memory_].name != symbol.name) {
      return findings_.ReportTensorMemoryVersions(program_, id);
    }
    tensor_memory_ = id;
  }
  Section& memory = program_.sections[symbol.section];
  const std::uint64_t place = base::AlignUp(memory.size, std::max<std::uint64_t>(1, align));
  if (place + symbol.size > format::kMaxStaticShared) {
    return findings_.ReportLost(base::Cat(
        {"'", symbol.name, "' makes the reserved shared memory larger than a kernel may have"}));
  }
  memory.size = place + symbol.size;
  memory.align = std::max(memory.align, static_cast<std::uint32_t>(align));
  symbol.value = relocatable_ ? align : place;
  symbol.align = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, align));
  if (!relocatable_) reserved_.push_back(id);
}

void ObjectMerge::LayOutReserved() {
  std::ranges::stable_sort(reserved_, std::greater(),
                           [this](SymbolId id) { return program_.symbols[id].align; });
  for (const SymbolId id : reserved_) program_.sections[program_.symbols[id].section].size = 0;
  for (const SymbolId id : reserved_) {
    Symbol& symbol = program_.symbols[id];
    Section& memory = program_.sections[symbol.section];
    symbol.value = base::AlignUp(memory.size, symbol.align);
    memory.size = symbol.value + symbol.size;
  }
}

void ObjectMerge::ReferToTexture(std::uint32_t index, const InputSymbol& symbol) {
  if (symbol.section != format::kShnUndef) {  // a kernel's parameter
    const SectionMapping& code = input_.section_map[symbol.section];
    if (code.state == SectionMapping::kMapped) Define(index, symbol, kNone, code);
    return;
  }
  SymbolId id = builder_.FindGlobal(symbol);
  if (id == kNone) {
    InputSymbol reference = symbol;
    reference.binding = format::kStbGlobal;
    id = builder_.AddSymbol(reference, symbol.type);
  }
  input_.symbols[index] = id;
}

void ObjectMerge::ReferTo(std::uint32_t index, const InputSymbol& symbol, SymbolId known) {
  if (symbol.binding == format::kStbLocal && (symbol.other & format::kStoInternal) != 0) {
    // `.nv.ptx.const0.size` of the device runtime: a number that the linker fills in.
    const SymbolId id =
        builder_.AddSymbol(symbol, relocatable_ ? format::kSttCudaObject : format::kSttObject);
    program_.symbols[id].constant_size = true;
    if (relocatable_) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});
    input_.symbols[index] = id;
    return;
  }
  SymbolId id = known;
  if (id == kNone) {
    InputSymbol reference = symbol;
    // Whatever it was, nvlink makes it that, but for what an earlier nvlink -r made up.
    const bool made_up =
        symbol.binding == format::kStbWeak && (symbol.other & format::kStoInternal) != 0;
    if (!made_up) reference.binding = format::kStbGlobal;
    const bool external_shared =
        (symbol.other & format::kStoSpaceMask) == format::kStoShared && symbol.size == 0;
    if (external_shared) data_.MapExternalShared();
    id = builder_.AddSymbol(reference, TypeOf(symbol));
    if (made_up) program_.symbol_names.push_back({.text = symbol.name, .symbol = id});
    program_.symbols[id].weak_reference = symbol.binding == format::kStbWeak;
    if (relocatable_ && symbol.type == format::kSttCudaObject) {
      // nvlink's mark of what is an error where it stays undefined.
      const bool may_be_undefined = builder_.allow_undefined || format::IsUnifiedTable(symbol.name);
      if (!may_be_undefined) program_.symbols[id].value = ~std::uint64_t{0};
    }
    if (format::IsReservedSharedSymbol(symbol.name)) {
      // Up to 12.6 inputs for sm_90 do not say where it ends.
      program_.symbols[id].value =
          symbol.name == format::kReservedSharedEnd ? builder_.reserved_shared_end : symbol.value;
    }
    if (external_shared) {
      program_.symbols[id].external_shared = true;
      program_.symbols[id].value = symbol.value;  // where nvlink -r has placed it, otherwise 0
      program_.shared_definitions.push_back(id);
    }
  }
  input_.symbols[index] = id;
}

}  // namespace devlink::internal
