// SPDX-License-Identifier: Apache-2.0
#include "image/two_view_describer.h"

#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/sm_traits.h"
#include "format/views.h"
#include "image/late_sections.h"
#include "write/residue_writer.h"

namespace devlink::internal {

namespace {

bool IsConstants(SectionKind kind) {
  return kind == SectionKind::kConstantBank || kind == SectionKind::kFunctionConstants;
}

}  // namespace

TwoViewDescriber::TwoViewDescriber(const LinkedView& mercury, const LinkedView& sass,
                                   const ViewPairs& pairs, CubinWriter& writer,
                                   base::StringArena& names)
    : mercury_(mercury), sass_(sass), pairs_(pairs), writer_(writer), names_(names) {
  for (ViewHandles* handles : {&plain_, &own_}) {
    handles->sections.assign(mercury.program().sections.size(), kNoSection);
    handles->symbols.assign(mercury.program().symbols.size(), kNoSymbol);
  }
  sass_handles_.sections.assign(sass.program().sections.size(), kNoSection);
  sass_handles_.symbols.assign(sass.program().symbols.size(), kNoSymbol);
}

// The name of a section that machine code has otherwise is overwritten with that one: it keeps its
// room.
void TwoViewDescriber::EnterSectionName(std::string_view name) {
  const std::string_view plain = PlainName(name);
  if (plain.size() == name.size()) {
    writer_.AddName(kSectionNameTable, name);
    return;
  }
  if (renamed_.contains(name)) return;
  // nvlink makes room for the longer names in `.strtab`, for each section, and uses it for those of
  // constants.
  std::uint64_t room = name.size();
  if (!format::IsNameOfRelocations(name)) {
    room -= format::NameInMachineCode(name, names_).size() + 1;
  }
  symbols_gap_ += SectionsOfName(name) * room;
  const auto padding = static_cast<std::uint32_t>(name.size() - plain.size());
  // What is left of two names may be the same; they stay two.
  renamed_[name] = writer_.AddName(kSectionNameTable, plain,
                                   {.shared = common_names_.empty(), .padding = padding});
}

std::uint32_t TwoViewDescriber::SectionsOfName(std::string_view name) const {
  const auto found = common_names_.find(name);
  return found == common_names_.end() ? 1 : found->second;
}

std::string_view TwoViewDescriber::PlainName(std::string_view name) {
  return format::NameOverwritten(name, SectionsOfName(name), names_);
}

// Only -r leaves several: of functions of one name that are not global.
void TwoViewDescriber::FindCommonNames() {
  base::HashSet<std::string_view> known;
  const Program& program = mercury_.program();
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (mercury_.form.left_out().sections[id]) continue;
    const std::string_view name = program.sections[id].name;
    if (known.insert(name).second) continue;
    ++common_names_.try_emplace(name, 1).first->second;
  }
}

void TwoViewDescriber::AddNames(bool spoiling) {
  if (spoiling) FindCommonNames();
  const LeftOut& left_out = mercury_.form.left_out();
  const Program& program = mercury_.program();
  base::HashSet<std::string_view> written;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (!left_out.sections[id]) written.insert(program.sections[id].name);
  }
  for (const NameEntry& name : program.section_names) {
    if (!left_out.Keeps(name)) continue;
    if (written.contains(name.text)) {
      EnterSectionName(name.text);
    } else {
      writer_.AddName(kSectionNameTable, name.text);
    }
  }
  for (const NameEntry& name : program.symbol_names) {
    if (left_out.Keeps(name)) writer_.AddName(kStringTable, name.text);
  }
}

void TwoViewDescriber::AddSections() {
  late_ = AddInOrder(mercury_.program(), mercury_.form,
                     [this](SectionId id, std::uint32_t number) { AddSection(id, number); });
  AddLateSections();
  section_names_ = ResidueWriter(writer_).SizeOfSectionNames();
  AddParameters();
  AddOwnSections();
  ResidueWriter residue(writer_);
  residue.CompleteSections();
  if (wide_indices_ == WideIndices::kLate) {
    residue.ClearWideIndices();
  } else {
    writer_.SetGap(kStringTable, format::kRoomBehindSectionNames);
  }
  writer_.SetGap(kSymbolTable, symbols_gap_);
}

// A section under the name that machine code has for it. nvlink adds that name to `.strtab` late.
SectionHandle TwoViewDescriber::AddRenamed(std::string_view name, SectionSpec spec) {
  spec.name = PlainName(name);
  const auto entered = renamed_.find(name);
  if (entered != renamed_.end()) spec.entered_name = entered->second;
  spec.only_section_name |= spec.name.size() != name.size();
  return writer_.AddSection(spec);
}

void TwoViewDescriber::AddSection(SectionId id, std::uint32_t number) {
  const Section& section = mercury_.program().sections[id];
  const SectionId other = pairs_.sections[id];
  const LinkedView& view = other == kNone ? mercury_ : sass_;
  const SectionId of = other == kNone ? id : other;
  const SectionShape shape = view.form.ShapeOfSection(of);
  SectionSpec spec{.type = shape.type,
                   .flags = shape.flags,
                   .align = shape.align,
                   .nobits_size = shape.nobits_size,
                   .only_section_name = section.comes_late};
  if (section.kind == SectionKind::kKernelShared || section.kind == SectionKind::kModuleShared) {
    const SectionShape own = mercury_.form.ShapeOfSection(id);
    spec.align = own.align;
    spec.nobits_size = own.nobits_size + sass_.passes.shared.reserved;
  }
  if (section.kind == SectionKind::kRelocations) spec.entry_size = sizeof(format::Rela);
  if (LinksToSymbols(section.kind)) spec.link = kSymbolTable;
  const SectionHandle handle = AddRenamed(section.name, spec);
  ResidueWriter(writer_).SetWideIndex(handle, number);
  plain_.sections[id] = handle;
  if (other != kNone) sass_handles_.sections[other] = handle;
}

// Sections that come into being after all inputs, in nvlink's order.
void TwoViewDescriber::AddLateSections() {
  const CallSections calls = AddCallSections(mercury_.passes, writer_);
  plain_.call_graph = calls.call_graph;
  plain_.prototypes = calls.prototypes;
  for (const NumberedSection& late : late_) AddSection(late.id, late.number);
  if (!mercury_.form.relocatable()) {
    AddLateSharedSections();
    AddLateBanks();
  }
}

// Of kernels that came to have shared memory by what they call.
void TwoViewDescriber::AddLateSharedSections() {
  for (const std::uint32_t i : mercury_.passes.shared.without_section) {
    const SectionHandle handle =
        AddLateShared(mercury_.passes, i, sass_.passes.shared.reserved, writer_, names_);
    if (handle == kNoSection) continue;
    late_shared_[mercury_.passes.liveness.kernels[i]] = handle;
    late_sections_.push_back({.plain = handle,
                              .own = handle,
                              .kernel = mercury_.passes.liveness.kernels[i],
                              .has_symbol = mercury_.passes.shared.kernels[i].has_symbol});
  }
}

// nvlink goes from function to function, the last one first: of all kernels that reach it those
// that had no bank get one, the last one first, and then those that had no list of relocations,
// where the function's constants have some.
std::vector<TwoViewDescriber::BankStep> TwoViewDescriber::StepsOfLateBanks() const {
  const Program& program = mercury_.program();
  const std::vector<ConstantBank>& banks = mercury_.passes.constants.banks;
  std::vector<bool> has_relocations(banks.size());
  for (const KeptRelocation& kept : mercury_.passes.relocated.kept_in_banks) {
    has_relocations[kept.list] = true;
  }
  base::HashMap<FunctionId, std::size_t> place_of;
  for (const FunctionId kernel : mercury_.passes.liveness.kernels) {
    place_of.try_emplace(kernel, place_of.size());
  }
  const auto has_list = [&](SectionId constants) {
    return program.sections[constants].rela != kNone || program.sections[constants].rel != kNone;
  };
  std::vector<BankStep> out;
  for (std::size_t i = 0; i < banks.size(); ++i) {
    const std::vector<SectionId>& from = banks[i].appended;
    const std::size_t place = place_of[banks[i].kernel];
    if (banks[i].section == kNone) {
      out.push_back({from.empty() ? kNone : from.front(), false, place, i});
    }
    if (!has_relocations[i]) continue;
    const auto first = std::find_if(from.begin(), from.end(), has_list);
    out.push_back({first == from.end() ? kNone : *first, true, place, i});
  }
  std::stable_sort(out.begin(), out.end(), [](const BankStep& a, const BankStep& b) {
    return std::tuple(b.function, a.is_list, b.kernel) <
           std::tuple(a.function, b.is_list, a.kernel);
  });
  return out;
}

// Banks of kernels that had none, and lists of the relocations that stay in a bank.
void TwoViewDescriber::AddLateBanks() {
  const std::vector<ConstantBank>& banks = mercury_.passes.constants.banks;
  std::vector<std::size_t> late_of_bank(banks.size());
  list_of_bank_.assign(banks.size(), kNone);
  for (const BankStep& step : StepsOfLateBanks()) {
    const ConstantBank& bank = banks[step.bank];
    if (step.is_list) {
      AddListOfLateBank(step.bank, late_of_bank[step.bank]);
      continue;
    }
    EnterSectionName(bank.name);
    writer_.AddName(kStringTable, bank.name);
    const SectionHandle handle = AddRenamed(bank.name, SpecOfBank(bank));
    late_of_bank[step.bank] = late_sections_.size();
    late_sections_.push_back(
        {.plain = handle, .kernel = bank.kernel, .has_symbol = true, .bank = &bank});
  }
}

void TwoViewDescriber::AddListOfLateBank(std::size_t index, std::size_t late) {
  const ConstantBank& bank = mercury_.passes.constants.banks[index];
  const std::string_view name = names_.Concat(format::section_name::kRela, bank.name);
  EnterSectionName(name);
  writer_.AddName(kStringTable, name);
  const SectionHandle list = AddRenamed(name, SpecOfBankRelocations(name));
  // Beside each list of relocations is one of those that were resolved, where there are such.
  const auto& sections = mercury_.program().sections;
  const bool names_resolved = std::any_of(
      sections.begin(), sections.end(),
      [](const Section& section) { return section.type == format::kShtCudaResolvedRela; });
  if (names_resolved) {
    const std::string_view resolved = names_.Concat(format::section_name::kResolvedRela, bank.name);
    EnterSectionName(resolved);
    writer_.AddName(kStringTable, resolved);
  }
  writer_.SetInfoSection(
      list, bank.section == kNone ? late_sections_[late].plain : plain_.sections[bank.section]);
  list_of_bank_[index] = static_cast<std::uint32_t>(late_lists_.size());
  late_lists_.push_back({.plain = list, .name = name, .of = bank.section, .of_late = late});
}

// Machine code alone has these.
void TwoViewDescriber::AddParameters() {
  const Program& program = sass_.program();
  std::vector<SectionId> banks;  // in the order of code
  for (SectionId code = 0; code < mercury_.program().sections.size(); ++code) {
    const SectionId other = pairs_.sections[code];
    if (plain_.sections[code] == kNoSection || other == kNone) continue;
    if (program.sections[other].kind != SectionKind::kText) continue;
    for (const SectionId id : program.functions[program.sections[other].function].constants) {
      if (IsParameterBank(program.sections[id])) banks.push_back(id);
    }
  }
  DecideWideIndices(banks.size());
  for (const SectionId id : banks) {
    if (sass_.form.left_out().sections[id]) continue;
    const Section& section = program.sections[id];
    const SectionShape shape = sass_.form.ShapeOfSection(id);
    const SectionHandle handle = writer_.AddSection({.name = section.name,
                                                     .type = shape.type,
                                                     .flags = section.flags,
                                                     .align = shape.align,
                                                     .own_name = true,
                                                     .only_section_name = true});
    ResidueWriter(writer_).SetWideIndex(handle, 0);
    sass_handles_.sections[id] = handle;
    parameters_.push_back(id);
  }
}

// The tables that a file with very many sections needs. They stand elsewhere where the merged
// Mercury view is small enough to do without, and the whole file is not.
void TwoViewDescriber::DecideWideIndices(std::size_t parameters) {
  constexpr std::uint64_t kOthers = 4;  // the null section, and those that every file has
  if (mercury_.program().residue.internal_sections >= format::kShnLoReserve) {
    wide_indices_ = WideIndices::kEarly;
    return;
  }
  const Program& program = mercury_.program();
  std::uint64_t count = kOthers + parameters + 2 * (late_sections_.size() + late_lists_.size());
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (plain_.sections[id] == kNoSection) continue;
    count += format::MercuryWordsOf(program.sections[id].kind) ? 2 : 1;
  }
  if (count < format::kShnLoReserve) return;
  wide_indices_ = WideIndices::kLate;
  writer_.AddWideIndices({.name = format::section_name::kWideIndices,
                          .link = kSymbolTable,
                          .own_name = true,
                          .only_section_name = true},
                         false);
}

void TwoViewDescriber::AddOwnWideIndices(WideIndices when) {
  if (wide_indices_ != when) return;
  const std::string_view name =
      names_.Concat(format::section_name::kMercuryPrefix, format::section_name::kWideIndices);
  own_wide_indices_ = writer_.AddWideIndices(
      {.name = name, .flags = format::kShfMercury, .own_name = true}, when == WideIndices::kEarly);
}

SectionHandle TwoViewDescriber::AddOwn(std::string_view name,
                                       const std::optional<format::MercuryWords>& words,
                                       const SectionSpec& spec) {
  if (!words) return kNoSection;
  SectionSpec own = spec;
  own.name = names_.Concat(words->prefix, name);
  own.type =
      spec.type == format::kShtCudaResolvedRela ? format::kShtMercuryResolvedRela : words->type;
  own.flags |= format::kShfMercury;
  own.own_name = true;
  return writer_.AddSection(own);
}

void TwoViewDescriber::AddOwnSection(SectionId id) {
  const Section& section = mercury_.program().sections[id];
  const SectionShape shape = mercury_.form.ShapeOfSection(id);
  SectionSpec spec{.type = section.type, .flags = section.flags, .align = shape.align};
  if (section.kind == SectionKind::kText) spec.flags = 0;
  if (section.kind == SectionKind::kRelocations) spec.entry_size = sizeof(format::Rela);
  own_.sections[id] =
      AddOwn(section.name, format::MercuryWordsOf(section.kind, section.bank), spec);
}

// Names enter in the order of the file, which is by kind.
void TwoViewDescriber::AddOwnSections() {
  const Program& program = mercury_.program();
  const auto add_all = [&](const auto& is_wanted) {
    for (SectionId id = 0; id < program.sections.size(); ++id) {
      if (plain_.sections[id] != kNoSection && is_wanted(program.sections[id].kind)) {
        AddOwnSection(id);
      }
    }
  };
  const auto add_kind = [&](SectionKind kind) {
    add_all([kind](SectionKind other) { return other == kind; });
  };
  add_kind(SectionKind::kText);
  AddOwnWideIndices(WideIndices::kEarly);
  add_kind(SectionKind::kDebug);
  add_all([](SectionKind kind) {
    return kind == SectionKind::kModuleInfo || kind == SectionKind::kFunctionInfo;
  });
  add_kind(SectionKind::kRelocations);
  for (LateList& list : late_lists_) {
    list.own =
        AddOwn(list.name, format::MercuryWordsOf(SectionKind::kRelocations),
               {.flags = format::kShfInfoLink, .align = 8, .entry_size = sizeof(format::Rela)});
  }
  add_all(IsConstants);
  for (LateSection& late : late_sections_) {
    if (late.bank == nullptr) continue;
    late.own = AddOwn(late.bank->name, format::MercuryWordsOf(SectionKind::kFunctionConstants),
                      {.flags = late.bank->flags, .align = late.bank->align});
  }
  add_kind(SectionKind::kGlobalInit);
  add_kind(SectionKind::kReservedShared);
  AddOwnWideIndices(WideIndices::kLate);
  own_symbols_ = writer_.AddSymbolTable({.name = format::section_name::kMercurySymbols,
                                         .type = format::kShtMercurySymbols,
                                         .flags = format::kShfMercury,
                                         .align = 8,
                                         .entry_size = sizeof(format::Sym),
                                         .own_name = true},
                                        SymbolOrder::kAsAdded);
  if (wide_indices_ != WideIndices::kAbsent) {
    writer_.SetLinkSection(own_wide_indices_, own_symbols_);
  }
  // What both views have has one section.
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (own_.sections[id] == kNoSection) own_.sections[id] = plain_.sections[id];
  }
}

void TwoViewDescriber::AddSymbols() {
  const Program& program = mercury_.program();
  FindHidden();
  writer_.SetSymbolOrder(kSymbolTable, SymbolOrder::kAsAdded);
  ResidueWriter(writer_).SetNullSymbolValue(mercury_.passes.constants.null_symbol_value);
  const auto add_part = [&](bool global) {
    for (SymbolId id = 0; id < program.symbols.size(); ++id) {
      if (mercury_.form.left_out().symbols[id] || program.symbols[id].global_part != global ||
          ComesLate(program, id)) {
        continue;
      }
      AddSymbolPair(id);
    }
  };
  add_part(false);
  AddSectionSymbol({}, plain_.call_graph, plain_.call_graph);
  AddSectionSymbol({}, plain_.prototypes, plain_.prototypes);
  for (LateSection& late : late_sections_) {
    if (!late.has_symbol) continue;
    const std::string_view name = late.bank == nullptr ? std::string_view() : late.bank->name;
    late.plain_symbol = AddSectionSymbol(name, late.plain, late.own);
  }
  AddInstances(
      program, mercury_.form, late_, writer_,
      [this](const ExternalInstance& instance) { AddInstance(instance); },
      [this](SectionId id) { AddSectionSymbol({}, plain_.sections[id], plain_.sections[id]); });
  add_part(true);
  RenameConstants();
  for (const SectionId id : parameters_) {
    const SymbolHandle handle = writer_.AddSymbol({.type = format::kSttSection,
                                                   .section = sass_handles_.sections[id],
                                                   .part = SymbolPart::kLocal,
                                                   .name_comes_late = true});
    const SymbolId symbol = sass_.program().sections[id].symbol;
    if (symbol != kNone) sass_handles_.symbols[symbol] = handle;
  }
}

void TwoViewDescriber::AddInstance(const ExternalInstance& instance) {
  SymbolSpec spec = SpecOfInstance(instance);
  const SymbolHandle plain = writer_.AddSymbol(spec);
  spec.table = own_symbols_;
  instances_.emplace_back(plain, writer_.AddSymbol(spec));
}

// Without a name it takes the section's.
SymbolHandle TwoViewDescriber::AddSectionSymbol(std::string_view name, SectionHandle plain,
                                                SectionHandle own) {
  if (plain == kNoSection) return kNoSymbol;
  SymbolSpec spec{.name = name, .type = format::kSttSection, .section = plain};
  const SymbolHandle added = writer_.AddSymbol(spec);
  spec.section = own;
  spec.table = own_symbols_;
  writer_.AddSymbol(spec);
  return added;
}

void TwoViewDescriber::AddSymbolPair(SymbolId id) {
  const Symbol& symbol = mercury_.program().symbols[id];
  const SymbolShape shape = mercury_.form.ShapeOfSymbol(id);
  if (shape.name_only) return ResidueWriter(writer_).AddLateSymbolName(symbol.name);
  const auto section_in = [&](const ViewHandles& handles) {
    if (shape.section != kNone) return handles.sections[shape.section];
    const auto late = late_shared_.find(shape.late_kernel);
    return late == late_shared_.end() ? kNoSection : late->second;
  };
  const SymbolPart part = symbol.global_part ? SymbolPart::kGlobal : SymbolPart::kLocal;
  SymbolSpec spec{.name = symbol.name,
                  .binding = shape.binding,
                  .type = symbol.type,
                  .other = symbol.other,
                  .section = section_in(plain_),
                  .value = shape.value,
                  .size = symbol.size,
                  .part = part};
  // A section's symbol bears its name.
  const bool is_section = symbol.type == format::kSttSection;
  if (is_section) spec.name = mercury_.program().sections[symbol.section].name;
  const SymbolId other = pairs_.symbols[id];
  if (other != kNone && !is_section && !sass_.form.left_out().symbols[other]) {
    const SymbolShape sass = sass_.form.ShapeOfSymbol(other);
    spec.type = sass.type;
    spec.other = sass.other;
    const bool is_shared = symbol.space == format::kStoShared;
    spec.value = is_shared ? shape.value + sass_.passes.shared.reserved : sass.value;
    spec.size = sass_.program().symbols[other].size;
    if (symbol.function != kNone) spec.size = CodeSizeOf(symbol.function, spec.size);
    if (format::IsReservedSharedSymbol(symbol.name)) spec.type = format::kSttCudaObject;
  }
  // A partial link keeps the type that inputs of these architectures give to variables.
  const auto kept = [this](std::uint8_t type) {
    return mercury_.form.relocatable() && type == format::kSttObject ? format::kSttCudaObject
                                                                     : type;
  };
  spec.type = kept(spec.type);
  const SymbolHandle plain = writer_.AddSymbol(spec);
  plain_.symbols[id] = plain;
  if (other != kNone) sass_handles_.symbols[other] = plain;
  if (is_section && pairs_.sections[symbol.section] != kNone) {
    const SymbolId theirs = sass_.program().sections[pairs_.sections[symbol.section]].symbol;
    if (theirs != kNone) sass_handles_.symbols[theirs] = plain;
  }
  spec.type = kept(shape.type);
  spec.other = shape.other;
  spec.section = section_in(own_);
  spec.value = shape.value;
  spec.size = symbol.size;
  spec.table = own_symbols_;
  own_.symbols[id] = writer_.AddSymbol(spec);
}

// nvlink finds code by the first symbol of its section. Where that is an alias, it gets the size of
// the code, and what it stands for is not found by those who look for its frame.
void TwoViewDescriber::FindHidden() {
  const Program& program = mercury_.program();
  const auto place = [&](FunctionId f) {
    const SymbolId symbol = program.functions[f].symbol;
    return std::pair(program.symbols[symbol].global_part, symbol);
  };
  for (FunctionId f = 0; f < program.functions.size(); ++f) {
    const FunctionId target = program.functions[f].alias_of;
    if (target != kNone && place(f) < place(target)) hidden_.insert(target);
  }
}

std::uint64_t TwoViewDescriber::CodeSizeOf(FunctionId function, std::uint64_t sass) const {
  const FunctionId target = mercury_.program().functions[function].alias_of;
  if (target == kNone || !hidden_.contains(target)) return sass;
  const SymbolId symbol = pairs_.symbols[mercury_.program().functions[target].symbol];
  return symbol == kNone ? sass : sass_.program().symbols[symbol].size;
}

// Constants' sections of machine code have other names, which come behind all others.
void TwoViewDescriber::RenameConstants() {
  const auto rename = [this](std::string_view name, SymbolHandle symbol) {
    const std::string_view plain = format::NameInMachineCode(name, names_);
    if (plain.size() == name.size()) return;
    ResidueWriter residue(writer_);
    if (symbol == kNoSymbol) return residue.AddLateSymbolName(plain);
    residue.RenameLate(symbol, plain, common_names_.contains(name));
  };
  const Program& program = mercury_.program();
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    if (plain_.sections[id] == kNoSection || !IsConstants(section.kind)) continue;
    rename(section.name, section.symbol == kNone ? kNoSymbol : plain_.symbols[section.symbol]);
  }
  for (const LateSection& late : late_sections_) {
    if (late.bank != nullptr) rename(late.bank->name, late.plain_symbol);
  }
}

void TwoViewDescriber::LinkSections() {
  const Program& program = mercury_.program();
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const SectionHandle plain = plain_.sections[id];
    const SectionHandle own = own_.sections[id];
    if (plain == kNoSection) continue;
    const Section& section = program.sections[id];
    if (own != plain && LinksToSymbols(section.kind)) writer_.SetLinkSection(own, own_symbols_);
    if (section.kind == SectionKind::kText) {
      const SymbolId symbol = program.functions[section.function].symbol;
      writer_.SetInfoSymbol(plain, plain_.symbols[symbol]);
      writer_.SetInfoSymbol(own, own_.symbols[symbol]);
    } else if (section.owner != kNone) {
      writer_.SetInfoSection(plain, plain_.sections[section.owner]);
      if (own != plain) writer_.SetInfoSection(own, own_.sections[section.owner]);
    }
  }
  for (const LateSection& late : late_sections_) {
    const SectionId text = program.functions[late.kernel].text;
    writer_.SetInfoSection(late.plain, plain_.sections[text]);
    if (late.own != late.plain) writer_.SetInfoSection(late.own, own_.sections[text]);
  }
  for (const LateList& list : late_lists_) {
    writer_.SetLinkSection(list.own, own_symbols_);
    writer_.SetInfoSection(
        list.own, list.of == kNone ? late_sections_[list.of_late].own : own_.sections[list.of]);
  }
  for (const SectionId id : parameters_) {
    const SectionId text = sass_.program().sections[id].owner;
    if (text != kNone) {
      writer_.SetInfoSection(sass_handles_.sections[id], sass_handles_.sections[text]);
    }
  }
}

}  // namespace devlink::internal
