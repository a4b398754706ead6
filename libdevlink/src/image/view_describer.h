// SPDX-License-Identifier: Apache-2.0
//
// Describes the sections, symbols, contents and relocations of one view of a program.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "base/strings.h"
#include "devlink/experimental/cubin_writer.h"
#include "image/changed_banks.h"
#include "image/late_sections.h"
#include "image/output_form.h"
#include "link/pass_results.h"

namespace devlink::internal {

// What the parts of a program are called in the writer.
struct ViewHandles {
  std::vector<SectionHandle> sections;  // by SectionId; kNoSection: left out
  std::vector<SymbolHandle> symbols;    // by SymbolId; kNoSymbol: left out
  SectionHandle call_graph = kNoSection;
  SectionHandle prototypes = kNoSection;  // where a function has one
  SectionHandle actions = kNoSection;     // `.nv.rel.action` of an executable

  [[nodiscard]] SymbolHandle SymbolOf(const Program& program, FunctionId function) const {
    return symbols[program.functions[function].symbol];
  }
};

// Its steps are called once each, in the order in which they stand here. Borrows what it is given.
class ViewDescriber {
 public:
  ViewDescriber(const PassResults& passes, const OutputForm& form, const ChangedBanks& banks,
                CubinWriter& writer, base::StringArena& names);

  void AddNames();
  void AddSections();
  void AddSymbols();
  void LinkSections();
  void FillContents();
  void FillRelocations();
  void FillSlotLists();

  [[nodiscard]] const ViewHandles& handles() const { return handles_; }

 private:
  struct NewSection {  // of a kernel that the merge gave none of its kind
    SectionHandle handle;
    FunctionId kernel;
    bool has_symbol;
  };

  void AddSection(SectionId id, std::uint32_t number);
  void AddLateSections();
  [[nodiscard]] SectionHandle SectionOf(const SymbolShape& shape) const;
  void AddSharedSections();
  void AddBanks();
  void AddSymbol(SymbolId id);
  [[nodiscard]] NameHandle EnteredNameOf(SymbolId id) const;
  void AddSlotList(SectionId parameters);

  const PassResults& passes_;
  const Program& program_;
  const OutputForm& form_;
  const ChangedBanks& banks_;
  CubinWriter& writer_;
  base::StringArena& names_;
  ViewHandles handles_;
  // Of names that are in the writer's tables before what bears them; kNoName: is not among them.
  struct EnteredNames {
    std::vector<NameHandle> sections;             // by SectionId, among names of sections
    std::vector<NameHandle> symbols_of_sections;  // by SectionId, among names of symbols
    std::vector<NameHandle> symbols;              // by SymbolId
  };
  EnteredNames entered_;
  std::vector<SymbolHandle> instances_;  // as OutputForm::Instances
  std::vector<NumberedSection> late_;    // Section::comes_late
  std::vector<NewSection> new_sections_;
  base::HashMap<FunctionId, SectionHandle> late_shared_;
  std::vector<std::pair<SectionHandle, const ConstantBank*>> new_banks_;
  std::vector<SectionHandle> bank_relocations_;                  // by ConstantLayout::banks
  std::vector<std::pair<SectionHandle, SectionId>> slot_lists_;  // relocations of texture slots
};

}  // namespace devlink::internal
