// SPDX-License-Identifier: Apache-2.0
#include "image/emit.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/release.h"
#include "format/elf_cuda.h"
#include "format/views.h"
#include "image/emitter.h"
#include "write/residue_writer.h"

namespace devlink::internal {

namespace {

// nvlink's count of sections from which on it writes `.symtab_shndx`.
constexpr std::uint32_t kWideIndicesFrom = 0xff00;
// nvlink's number of the first section that it makes behind the tables.
constexpr std::uint32_t kFirstSectionNumber = 5;

// Sections that name symbols by their index.
bool LinksToSymbols(SectionKind kind) {
  return kind == SectionKind::kRelocations || kind == SectionKind::kText ||
         kind == SectionKind::kModuleInfo || kind == SectionKind::kFunctionInfo;
}

}  // namespace

Image DescribeExecutable(PassResults&& passes, const LinkOptions& options) {
  return Emitter(std::move(passes), options).Run();
}

Emitter::Emitter(PassResults&& passes, const LinkOptions& options, bool relocatable)
    : passes_(std::move(passes)),
      options_(options),
      relocatable_(relocatable),
      writer_({.sm = options.target.number,
               .executable = !relocatable,
               .wide_section_indices = program_.residue.internal_sections >= kWideIndicesFrom}),
      section_handles_(program_.sections.size(), kNoSection),
      symbol_handles_(program_.symbols.size(), kNoSymbol) {
  base::Release(passes_.program.relocations);
  writer_.Reserve(program_.sections.size() + 16, program_.symbols.size() + 16, CopiedBytes());
  base::Release(passes_.program.calls);  // the graph has them
  for (const ConstantBank& bank : linked_.constants.banks) {
    if (bank.section != kNone) changed_banks_[bank.section] = &bank;
  }
  for (const ConstantBank& bank : linked_.textures.banks) changed_banks_[bank.section] = &bank;
  for (std::uint32_t i = 0; i < linked_.liveness.entries.size(); ++i) {
    if (!linked_.resources.entries[i].stack) unbounded_entries_.insert(linked_.liveness.entries[i]);
  }
}

Image Emitter::Run() && {
  DropSectionsAndSymbols();
  AddNames();
  base::Release(passes_.program.section_names);
  base::Release(passes_.program.symbol_names);
  AddSections();
  AddLateSections();
  ResidueWriter(writer_).CompleteSections();
  AddSymbols();
  LinkSections();
  FillContents();
  base::Release(passes_.relocated.patches);
  FillRelocations();
  base::Release(passes_.relocated.kept);
  FillSlotLists();
  FillNotes();
  FillCallGraph();
  FillAttributes();
  // In memory that stays where it is when the image moves.
  writer_.SetPrototypes(names_->Concat(program_.prototypes, ""));
  return {std::move(writer_), {program_.names, linked_.constants.names, std::move(names_)}};
}

// A section that is not written although its function stays.
bool Emitter::IsOmitted(SectionId id) const {
  const Section& section = program_.sections[id];
  switch (section.kind) {
    case SectionKind::kRelocations:
      return linked_.relocated.kept_in_list[id] == 0 || section_dropped_[section.owner];
    case SectionKind::kModuleShared:
      return !linked_.shared.module_section_emitted;
    case SectionKind::kModuleInfo:
      return !AnyModuleRecord();
    default:
      return false;
  }
}

void Emitter::DropSectionsAndSymbols() {
  section_dropped_.assign(program_.sections.size(), false);
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const bool moved = linked_.constants.moved.contains(id);
    const bool empty = program_.sections[id].only_if_filled && !changed_banks_.contains(id);
    section_dropped_[id] = linked_.liveness.section_removed[id] || moved || empty;
  }
  name_dropped_ = section_dropped_;  // what is merely empty leaves its name behind
  if (program_.view == format::ViewKind::kMercury) {
    for (const auto& [constants, offset] : linked_.constants.moved) {
      const SectionId list = program_.sections[constants].rela;
      if (list != kNone) name_dropped_[list] = true;
    }
  }
  for (const FunctionId kernel : linked_.liveness.left_out) {
    const SectionId shared = program_.functions[kernel].shared;
    if (shared != kNone) name_dropped_[shared] = false;
  }
  for (std::uint32_t i = 0; i < linked_.liveness.entries.size(); ++i) {
    const SectionId shared = program_.functions[linked_.liveness.entries[i]].shared;
    if (shared == kNone) continue;  // nobody asked for the entry, and it has no shared memory
    entry_of_shared_[shared] = i;
    if (!linked_.shared.entries[i].emitted) section_dropped_[shared] = true;
  }
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    if (IsOmitted(id)) section_dropped_[id] = true;
  }
  symbol_dropped_.assign(program_.symbols.size(), false);
  for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
    const Symbol& symbol = program_.symbols[id];
    if (symbol.type == format::kSttSection) {
      symbol_dropped_[id] = section_dropped_[symbol.section] || LacksSymbol(symbol.section);
    } else {
      symbol_dropped_[id] = IsGone(id);
    }
  }
}

// Sections without bytes have no symbol; which those are differs by kind.
bool Emitter::LacksSymbol(SectionId id) const {
  const Section& section = program_.sections[id];
  switch (section.kind) {
    case SectionKind::kDebug:
      return section.size == 0;
    case SectionKind::kEntryShared:
      return !linked_.shared.entries[entry_of_shared_.at(id)].has_symbol;
    case SectionKind::kModuleShared:
      return !linked_.shared.module_section_has_symbol;
    default:
      return false;
  }
}

// A symbol, other than a section's, that the output does not have.
bool Emitter::IsGone(SymbolId id) const {
  const Symbol& symbol = program_.symbols[id];
  if (symbol.function != kNone) return !linked_.liveness.live[symbol.function];
  if (symbol.constant_size || symbol.unlisted) return true;
  if (symbol.space == format::kStoShared) {
    const auto place = linked_.shared.places.find(id);
    return place == linked_.shared.places.end() || !place->second.symbol_kept;
  }
  if (symbol.section == kNone || (symbol.other & format::kStoInternal) == 0) return false;
  const SectionKind kind = program_.sections[symbol.section].kind;
  return kind != SectionKind::kGlobal && kind != SectionKind::kGlobalInit;
}

void Emitter::AddNames() {
  ResidueWriter(writer_).SetNullSymbolValue(linked_.constants.null_symbol_value);
  const auto stays = [this](const NameEntry& name) {
    return (name.section == kNone || !name_dropped_[name.section]) &&
           (name.symbol == kNone || !symbol_dropped_[name.symbol]);
  };
  for (const NameEntry& name : program_.section_names) {
    if (stays(name)) writer_.AddName(kSectionNameTable, name.text);
  }
  for (const NameEntry& name : program_.symbol_names) {
    if (stays(name)) writer_.AddName(kStringTable, name.text);
  }
}

void Emitter::AddSections() {
  ResidueWriter residue(writer_);
  std::uint32_t number = 0;
  auto skipped = program_.residue.skipped_numbers.begin();
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const Section& section = program_.sections[id];
    for (; skipped != program_.residue.skipped_numbers.end() && skipped->first == id; ++skipped) {
      number += skipped->second;
    }
    const std::uint32_t before = number;
    number += SectionsCountedFor(section);
    if (section_dropped_[id]) continue;
    SectionSpec spec{
        .name = section.name, .type = section.type, .flags = section.flags, .align = section.align};
    if (section.type == format::kShtNobits) spec.nobits_size = section.size;
    DescribeSection(id, spec);
    if (section.kind == SectionKind::kRelocations) {
      spec.entry_size = section.type == format::kShtRela ? sizeof(format::Rela) : format::kRelSize;
    }
    if (LinksToSymbols(section.kind)) spec.link = kSymbolTable;
    section_handles_[id] = writer_.AddSection(spec);
    // One more section comes into being behind the two notes.
    residue.SetWideIndex(section_handles_[id], before + kFirstSectionNumber + (before < 2 ? 0 : 1));
    if (section.bank == 0 && BankOf(id) != nullptr) AddSlotList(id);
  }
}

// What the layout has to say of a section.
void Emitter::DescribeSection(SectionId id, SectionSpec& spec) const {
  const Section& section = program_.sections[id];
  if (section.kind == SectionKind::kEntryShared) {
    const EntryShared& shared = linked_.shared.entries[entry_of_shared_.at(id)];
    spec.nobits_size = shared.size;
    spec.align = shared.align;
  } else if (section.kind == SectionKind::kModuleShared) {
    spec.nobits_size = linked_.shared.module_section_size;
    spec.align = linked_.shared.module_section_align;
  }
  if (const ConstantBank* bank = BankOf(id)) spec.align = bank->align;
}

// Tells the driver where an entry's texture references want their handles.
void Emitter::AddSlotList(SectionId parameters) {
  const std::string_view name = names_->Concat(".rel", program_.sections[parameters].name);
  const SectionHandle handle = writer_.AddSection({.name = name,
                                                   .type = format::kShtRel,
                                                   .align = 8,
                                                   .entry_size = format::kRelSize,
                                                   .link = kSymbolTable});
  writer_.SetInfoSection(handle, section_handles_[parameters]);
  slot_lists_.emplace_back(handle, parameters);
}

void Emitter::FillSlotLists() {
  constexpr std::uint32_t kTextureHeader = 6;
  constexpr std::uint32_t kSamplerHeader = 7;
  constexpr std::uint32_t kSurfaceHeader = 0x34;
  const auto& slots = linked_.textures.slots;
  for (const auto& [handle, parameters] : slot_lists_) {
    for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
      const std::uint8_t type = program_.symbols[slot->symbol].type;
      const std::uint32_t kind = type == format::kSttCudaTexture   ? kTextureHeader
                                 : type == format::kSttCudaSampler ? kSamplerHeader
                                                                   : kSurfaceHeader;
      writer_.AddRelocation(handle, slot->offset, kind, symbol_handles_[slot->symbol], 0);
    }
  }
}

const ConstantBank* Emitter::BankOf(SectionId id) const {
  if (program_.sections[id].kind != SectionKind::kFunctionConstants) return nullptr;
  const auto found = changed_banks_.find(id);
  if (found != changed_banks_.end()) return found->second;
  return nullptr;
}

// Sections that come into being after all inputs, in nvlink's order.
void Emitter::AddLateSections() {
  ResidueWriter residue(writer_);
  call_graph_ = writer_.AddSection({.name = ".nv.callgraph",
                                    .type = format::kShtCudaCallGraph,
                                    .align = 4,
                                    .entry_size = 8,
                                    .link = kSymbolTable});
  residue.SetWideIndex(call_graph_, program_.residue.internal_sections);
  if (AnyPrototype()) {
    prototypes_ = writer_.AddSection({.name = ".nv.prototype",
                                      .type = format::kShtCudaPrototype,
                                      .align = 4,
                                      .entry_size = 8,
                                      .link = kSymbolTable});
    residue.SetWideIndex(prototypes_, program_.residue.internal_sections + 1);
  } else {
    writer_.AddName(kSectionNameTable, ".nv.prototype");
    writer_.AddName(kStringTable, ".nv.prototype");
  }
  AddBanksAndActions();
}

void Emitter::AddBanksAndActions() {
  std::vector<bool> has_relocations(linked_.constants.banks.size());
  for (const KeptRelocation& kept : linked_.relocated.kept_in_banks) {
    has_relocations[kept.list] = true;
  }
  bank_relocations_.assign(linked_.constants.banks.size(), kNoSection);
  for (std::uint32_t i = 0; i < linked_.constants.banks.size(); ++i) {
    const ConstantBank& bank = linked_.constants.banks[i];
    SectionHandle handle = bank.section == kNone ? kNoSection : section_handles_[bank.section];
    if (bank.section == kNone) {
      handle = writer_.AddSection({.name = bank.name,
                                   .type = format::kShtProgbits,
                                   .flags = bank.flags,
                                   .align = bank.align});
      new_banks_.emplace_back(handle, &bank);
    }
    if (!has_relocations[i]) continue;
    bank_relocations_[i] = writer_.AddSection({.name = names_->Concat(".rela", bank.name),
                                               .type = format::kShtRela,
                                               .flags = format::kShfInfoLink,
                                               .align = 8,
                                               .entry_size = sizeof(format::Rela),
                                               .link = kSymbolTable});
    writer_.SetInfoSection(bank_relocations_[i], handle);
  }
  if (program_.view == format::ViewKind::kMercury) return;  // that view has no such section
  action_ = writer_.AddSection(
      {.name = ".nv.rel.action", .type = format::kShtCudaRelocInfo, .align = 8, .entry_size = 8});
  ResidueWriter(writer_).SetWideIndex(action_, program_.residue.internal_sections + 2);
}

void Emitter::AddSymbols() {
  for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
    if (!symbol_dropped_[id]) AddSymbol(id);
  }
  const auto add_section_symbol = [this](SectionHandle section) {
    writer_.AddSymbol({.type = format::kSttSection, .section = section});
  };
  add_section_symbol(call_graph_);
  if (prototypes_ != kNoSection) add_section_symbol(prototypes_);
  for (const auto& [handle, bank] : new_banks_) add_section_symbol(handle);
  if (action_ != kNoSection) add_section_symbol(action_);
}

void Emitter::AddSymbol(SymbolId id) {
  const Symbol& symbol = program_.symbols[id];
  // Tables of unified functions are left to the loader; nvlink keeps the name and nothing else.
  const bool name_only = symbol.section == kNone && symbol.function == kNone &&
                         (symbol.name.starts_with("__UDT") || symbol.name.starts_with("__UFT"));
  if (name_only) {
    ResidueWriter(writer_).AddLateSymbolName(symbol.name);
    return;
  }
  SymbolSpec spec{.name = symbol.name,
                  .binding = symbol.binding,
                  .type = symbol.type,
                  .other = symbol.other,
                  .value = symbol.value,
                  .size = symbol.size,
                  .part = symbol.global_part ? SymbolPart::kGlobal : SymbolPart::kLocal};
  // The Mercury view keeps what inputs say of variables.
  if (program_.view == format::ViewKind::kMercury && symbol.type == format::kSttObject) {
    spec.type = format::kSttCudaObject;
    spec.other |= symbol.space;
  }
  if (symbol.section != kNone) spec.section = section_handles_[symbol.section];
  if (symbol.space == format::kStoShared && symbol.type != format::kSttSection) {
    const SharedPlace& place = linked_.shared.places.at(id);
    spec.section = section_handles_[place.section];
    spec.value =
        place.offset.value_or(0) +
        (symbol.external_shared && !linked_.shared.external_symbols_shifted ? 0 : Reserved());
  }
  symbol_handles_[id] = writer_.AddSymbol(spec);
}

// Of the Mercury view nothing is reserved; the finalizer adds it.
std::uint64_t Emitter::Reserved() const {
  return options_.target.number >= 90 && program_.view == format::ViewKind::kSass ? 0x400 : 0;
}

void Emitter::LinkSections() {
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const SectionHandle handle = section_handles_[id];
    if (handle == kNoSection) continue;
    const Section& section = program_.sections[id];
    if (section.kind == SectionKind::kText) {
      const SymbolId function = program_.functions[section.function].symbol;
      writer_.SetInfoSymbol(handle, symbol_handles_[function], section.registers);
    } else if (section.owner != kNone) {
      writer_.SetInfoSection(handle, section_handles_[section.owner]);
    }
  }
  for (const auto& [handle, bank] : new_banks_) {
    writer_.SetInfoSection(handle, section_handles_[program_.functions[bank->entry].text]);
  }
  const SectionHandle cuda_note = section_handles_[program_.cuda_note];
  writer_.SetLinkSection(cuda_note, section_handles_[program_.tool_note]);
  if (program_.compat != kNone) {
    writer_.SetInfoSection(cuda_note, section_handles_[program_.compat]);
  }
}

void Emitter::FillContents() {
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const SectionHandle handle = section_handles_[id];
    const Section& section = program_.sections[id];
    if (handle == kNoSection || section.kind == SectionKind::kToolNote ||
        section.type == format::kShtNobits) {
      continue;
    }
    if (const ConstantBank* bank = BankOf(id)) {
      FillPieces(handle, bank->pieces, bank->size);
    } else if (!section.pieces.empty() || section.size != 0) {
      FillPieces(handle, section.pieces, section.size);
    }
  }
  for (const auto& [handle, bank] : new_banks_) FillPieces(handle, bank->pieces, bank->size);
  for (const FieldPatch& patch : linked_.relocated.patches) {
    const SectionHandle handle = section_handles_[patch.section];
    if (handle != kNoSection) writer_.Patch(handle, patch.offset, patch.field, patch.value);
  }
}

template <typename Pieces>
void Emitter::FillPieces(SectionHandle handle, const Pieces& pieces, std::uint64_t size) {
  for (const Piece& piece : pieces) {
    writer_.AppendZeros(handle, piece.offset - writer_.SizeOf(handle));
    writer_.Append(handle, piece.bytes);
  }
  writer_.AppendZeros(handle, size - writer_.SizeOf(handle));
}

void Emitter::FillRelocations() {
  for (const KeptRelocation& kept : linked_.relocated.kept) {
    const SectionHandle handle = section_handles_[kept.list];
    if (handle == kNoSection) continue;
    writer_.AddRelocation(handle, kept.offset, kept.type, SymbolOf(kept), kept.addend);
  }
  for (const KeptRelocation& kept : linked_.relocated.kept_in_banks) {
    writer_.AddRelocation(bank_relocations_[kept.list], kept.offset, kept.type, SymbolOf(kept),
                          kept.addend);
  }
}

// At least what the lists made here come to, nearly.
std::size_t Emitter::CopiedBytes() const {
  constexpr std::size_t kPair = 8;
  std::size_t out = linked_.relocated.kept.size() * sizeof(format::Rela) +
                    (program_.calls.size() + program_.address_takers.size() +
                     program_.addresses_taken.size() + program_.indirect_callers.size()) *
                        kPair;
  for (const auto& list : program_.info_lists) {
    for (const InfoEntry& entry : list) out += sizeof(std::uint32_t) + entry.payload.size();
  }
  for (const FunctionAttributes& function : linked_.attributes.functions) {
    out += (function.externs.size() + function.appended.size()) * sizeof(std::uint32_t);
  }
  return out;
}

}  // namespace devlink::internal
