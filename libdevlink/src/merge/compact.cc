// SPDX-License-Identifier: Apache-2.0
#include "merge/compact.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "format/elf_cuda.h"

namespace devlink::internal {

namespace {

class Compactor {
 public:
  Compactor(const ReplacedBodies& replaced, bool relocatable, bool keeps_parameters,
            Program& program, InputMaps& maps)
      : replaced_(replaced),
        relocatable_(relocatable),
        keeps_parameters_(keeps_parameters),
        program_(program),
        maps_(maps) {}

  void Run() {
    DropRelocations();
    DropRecords();
    FindCandidates();
    if (!any_candidate_) return;
    FindUses();
    Decide();
    NumberSections();
    NumberSymbols();
    MoveNames();
    MoveSections();
    MoveSymbols();
    MoveReferences();
    MoveMaps();
  }

 private:
  // Keeps what `stays(element, index)` says; as std::erase_if, with the position.
  template <typename T, typename Stays>
  static void Keep(std::vector<T>& list, const Stays& stays) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!stays(list[i], static_cast<std::uint32_t>(i))) continue;
      if (kept != i) list[kept] = std::move(list[i]);
      ++kept;
    }
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept), list.end());
  }

  // Jump tables of a replaced body stay in the Mercury view, as those of a discarded one do. Where
  // there is nothing any more nvlink ends with an internal error, or leaves them out as well.
  [[nodiscard]] bool KeepsTable(const Section& section) const {
    return program_.view == format::ViewKind::kMercury &&
           section.kind == SectionKind::kFunctionConstants && section.bank == format::kCompilerBank;
  }

  void DropRelocations() {
    Keep(program_.relocations, [this](const Relocation& relocation, std::uint32_t index) {
      const Section& section = program_.sections[relocation.section];
      if (section.function != kNone && replaced_.IsOfReplacedBody(section.function, index)) {
        if (!KeepsTable(section) || relocation.offset >= section.size) return false;
        // nvlink leaves constants of a replaced body that are not the first of the function.
        if (!replaced_.WasEmptied(relocation.section)) {
          program_.residue.discarded_constants[relocation.section] = 0;
        }
        return true;
      }
      return section.kind != SectionKind::kDebug || !format::GoesWithBody(section.name) ||
             program_.sections[relocation.list].type != format::kShtRela ||
             !replaced_.IsDroppedDebugRelocation(relocation.symbol, index);
    });
  }

  // A function's own records are cleared as its body is replaced.
  void DropRecords() {
    auto& list = program_.info_lists[program_.sections[program_.module_info].info_list];
    Keep(list, [this](const AttributeRecord& record, std::uint32_t) {
      if (record.symbol == kNone) return true;
      const FunctionId function = program_.symbols[record.symbol].function;
      return function == kNone || !replaced_.IsRecordOfReplacedBody(function, record.arrival);
    });
  }

  // Symbols that go unless something still refers to them.
  void FindCandidates() {
    candidate_.assign(program_.symbols.size(), false);
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.section == kNone || symbol.function != kNone) continue;
      // nvlink -r keeps what lies in constants that were filled again, and so does
      // -preserve-relocs.
      const bool gone = !relocatable_ && !keeps_parameters_ && symbol.type != format::kSttSection &&
                        replaced_.IsVariableGone(id, symbol.section);
      candidate_[id] = gone || replaced_.IsEmpty(symbol.section);
      any_candidate_ = any_candidate_ || candidate_[id];
    }
  }

  void FindUses() {
    symbol_used_.assign(program_.symbols.size(), false);
    section_used_.assign(program_.sections.size(), false);
    for (const Relocation& relocation : program_.relocations) {
      symbol_used_[relocation.symbol] = true;
      section_used_[relocation.section] = section_used_[relocation.list] = true;
    }
    for (const SectionId id : program_.info_sections) {
      if (id == program_.module_info) continue;
      for (const AttributeRecord& record : program_.info_lists[program_.sections[id].info_list]) {
        if (record.symbol != kNone) symbol_used_[record.symbol] = true;
      }
    }
    for (const SymbolId id : program_.commons) symbol_used_[id] = true;
    for (const SymbolId id : program_.shared_definitions) symbol_used_[id] = true;
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const SectionId section = program_.symbols[id].section;
      if (section != kNone && (symbol_used_[id] || !candidate_[id])) section_used_[section] = true;
    }
  }

  // Whether the layout may fill it, or takes its alignment into account.
  [[nodiscard]] bool IsLaidOut(const Section& section) const {
    if (relocatable_ || section.kind != SectionKind::kFunctionConstants ||
        section.bank != format::kCompilerBank) {
      return false;
    }
    return program_.functions[section.function].is_kernel || !section.stays_in_place;
  }

  void Decide() {
    section_goes_.assign(program_.sections.size(), false);
    for (SectionId id = 0; id < program_.sections.size(); ++id) {
      Section& section = program_.sections[id];
      if (!replaced_.IsEmpty(id)) continue;
      section_goes_[id] = !section_used_[id] && !IsLaidOut(section);
      section.only_if_filled = !section_goes_[id];
    }
    // A list of relocations goes with what they apply to.
    for (SectionId id = 0; id < program_.sections.size(); ++id) {
      const Section& section = program_.sections[id];
      if (section.kind == SectionKind::kRelocations && section_goes_[section.owner]) {
        section_goes_[id] = true;
      }
    }
    symbol_goes_.assign(program_.symbols.size(), false);
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      if (!candidate_[id]) continue;
      Symbol& symbol = program_.symbols[id];
      if (symbol.type == format::kSttSection) {
        symbol_goes_[id] = section_goes_[symbol.section];
      } else {
        symbol_goes_[id] = !symbol_used_[id];
        symbol.unlisted = symbol_used_[id];
      }
    }
  }

  void NumberSections() {
    new_section_.assign(program_.sections.size(), kNone);
    SectionId next = 0;
    std::uint32_t skipped = 0;
    for (SectionId id = 0; id < program_.sections.size(); ++id) {
      if (section_goes_[id]) {
        skipped += SectionsCountedFor(program_.sections[id]);
        continue;
      }
      if (skipped != 0) program_.residue.skipped_numbers.emplace_back(next, skipped);
      skipped = 0;
      new_section_[id] = next++;
    }
  }

  void NumberSymbols() {
    new_symbol_.assign(program_.symbols.size(), kNone);
    SymbolId next = 0;
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      if (!symbol_goes_[id]) new_symbol_[id] = next++;
    }
  }

  // nvlink -r writes the names of sections that it does not write. Of an executable, a list of
  // relocations leaves its name behind while the function stays.
  bool MoveName(NameEntry& name) const {
    if (name.symbol != kNone) {
      if (symbol_goes_[name.symbol] || program_.symbols[name.symbol].unlisted) return false;
      name.symbol = new_symbol_[name.symbol];
    }
    if (name.section == kNone) return true;
    if (!section_goes_[name.section]) {
      name.section = new_section_[name.section];
      return true;
    }
    const Section& section = program_.sections[name.section];
    if (!relocatable_ && section.kind != SectionKind::kRelocations) return false;
    name.section = relocatable_ ? kNone : new_section_[program_.functions[section.function].text];
    return true;
  }

  void MoveNames() {
    const auto move = [this](NameEntry& name, std::uint32_t) { return MoveName(name); };
    Keep(program_.section_names, move);
    Keep(program_.symbol_names, move);
  }

  void MoveSection(SectionId& id) const {
    if (id != kNone) id = new_section_[id];
  }
  void MoveSymbol(SymbolId& id) const {
    if (id != kNone) id = new_symbol_[id];
  }

  void MoveSections() {
    Keep(program_.sections, [this](Section& section, std::uint32_t id) {
      MoveSection(section.owner);
      MoveSection(section.rel);
      MoveSection(section.rela);
      MoveSymbol(section.symbol);
      return !section_goes_[id];
    });
    for (SectionId* id : {&program_.tool_note, &program_.cuda_note, &program_.module_info,
                          &program_.compat, &program_.module_shared, &program_.constant_bank3}) {
      MoveSection(*id);
    }
    for (SectionId& id : program_.info_sections) MoveSection(id);
    for (UnnamedShared& unnamed : program_.unnamed_shared) MoveSection(unnamed.section);
    for (auto* places :
         {&program_.residue.discarded_variables, &program_.residue.discarded_constants}) {
      base::HashMap<SectionId, std::uint64_t> moved;
      for (const auto& [id, base] : *places) {
        if (!section_goes_[id]) moved[new_section_[id]] = base;
      }
      *places = std::move(moved);
    }
  }

  void MoveSymbols() {
    Keep(program_.symbols, [this](Symbol& symbol, std::uint32_t id) {
      MoveSection(symbol.section);
      return !symbol_goes_[id];
    });
    MoveArrivals();
    for (Function& function : program_.functions) {
      MoveSymbol(function.symbol);
      MoveSection(function.text);
      MoveSection(function.info);
      MoveSection(function.shared);
      std::size_t kept = 0;
      for (const SectionId id : function.constants) {
        if (!section_goes_[id]) function.constants[kept++] = new_section_[id];
      }
      function.constants.resize(kept);
    }
  }

  // They stand in order.
  void MoveArrivals() {
    std::uint32_t next = 0;
    for (UnnamedShared& unnamed : program_.unnamed_shared) {
      next = std::max(next, unnamed.symbols_before);
      while (next < new_symbol_.size() && symbol_goes_[next]) ++next;
      unnamed.symbols_before = next < new_symbol_.size()
                                   ? new_symbol_[next]
                                   : static_cast<std::uint32_t>(program_.symbols.size());
    }
  }

  void MoveReferences() {
    for (Relocation& relocation : program_.relocations) {
      MoveSection(relocation.section);
      MoveSection(relocation.list);
      MoveSymbol(relocation.symbol);
    }
    for (auto& list : program_.info_lists) {
      Keep(list, [this](AttributeRecord& record, std::uint32_t) {
        if (record.symbol == kNone) return true;
        record.symbol = new_symbol_[record.symbol];
        return record.symbol != kNone;
      });
    }
    for (SymbolId& id : program_.extern_symbols) MoveSymbol(id);
    for (SymbolId& id : program_.commons) MoveSymbol(id);
    for (SymbolId& id : program_.shared_definitions) MoveSymbol(id);
  }

  void MoveMaps() {
    for (InputMap& map : maps_) {
      for (SectionPlace& place : map.sections) {
        MoveSection(place.section);
        if (place.section == kNone) place.base = 0;
      }
      for (SymbolId& id : map.symbols) MoveSymbol(id);
    }
  }

  const ReplacedBodies& replaced_;
  const bool relocatable_;
  const bool keeps_parameters_;
  Program& program_;
  InputMaps& maps_;
  bool any_candidate_ = false;
  // By SymbolId and SectionId as they were.
  std::vector<bool> candidate_;
  std::vector<bool> symbol_used_;
  std::vector<bool> section_used_;
  std::vector<bool> symbol_goes_;
  std::vector<bool> section_goes_;
  std::vector<SymbolId> new_symbol_;
  std::vector<SectionId> new_section_;
};

}  // namespace

void Compact(const ReplacedBodies& replaced, bool relocatable, bool keeps_parameters,
             Program& program, InputMaps& maps) {
  if (replaced.empty()) return;
  Compactor(replaced, relocatable, keeps_parameters, program, maps).Run();
}

}  // namespace devlink::internal
