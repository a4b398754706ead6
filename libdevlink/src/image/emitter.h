// SPDX-License-Identifier: Apache-2.0
//
// The state of writing one output. Only emit*.cc see it. What a relocatable cubin has otherwise
// than an executable is virtual.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "devlink/experimental/cubin_writer.h"
#include "image/emit.h"

namespace devlink::internal {

class Emitter {
 public:
  Emitter(PassResults&& passes, const LinkOptions& options, bool relocatable = false);
  virtual ~Emitter() = default;
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;
  Image Run() &&;

 protected:
  // emit.cc: which sections and symbols there are, and what is in them
  virtual void DropSectionsAndSymbols();
  [[nodiscard]] bool IsOmitted(SectionId id) const;
  [[nodiscard]] bool LacksSymbol(SectionId id) const;
  [[nodiscard]] bool IsGone(SymbolId id) const;
  void AddNames();
  void AddSections();
  void AddLateSections();
  virtual void AddBanksAndActions();
  virtual void DescribeSection(SectionId id, SectionSpec& spec) const;
  virtual void AddSymbols();
  virtual void AddSymbol(SymbolId id);
  void LinkSections();
  void FillContents();
  template <typename Pieces>
  void FillPieces(SectionHandle handle, const Pieces& pieces, std::uint64_t size);
  void FillRelocations();
  [[nodiscard]] std::size_t CopiedBytes() const;
  void AddSlotList(SectionId parameters);
  void FillSlotLists();
  [[nodiscard]] const ConstantBank* BankOf(SectionId id) const;
  [[nodiscard]] std::uint64_t Reserved() const;

  // emit_records.cc: sections whose content is made here
  void FillNotes();
  void FillCallGraph();
  void FillAttributes();
  void FillModuleInfo();
  [[nodiscard]] bool AnyModuleRecord() const;
  [[nodiscard]] bool StaysInModuleInfo(const InfoEntry& entry) const;
  void FillFunctionInfo(SectionId id);
  void FillInfoRecord(SectionHandle handle, const InfoEntry& entry,
                      const FunctionAttributes& attributes);
  void FillExterns(SectionHandle handle, const FunctionAttributes& attributes);
  [[nodiscard]] bool AnyPrototype() const;
  [[nodiscard]] bool HasPrototype(FunctionId function) const;
  [[nodiscard]] virtual SymbolHandle SymbolOf(const KeptRelocation& kept) const {
    return symbol_handles_[kept.symbol];
  }
  [[nodiscard]] SymbolHandle SymbolOf(FunctionId function) const {
    return symbol_handles_[program_.functions[function].symbol];
  }

  // Taken over; only Run frees parts of it, between the steps that read them.
  PassResults passes_;
  const PassResults& linked_ = passes_;
  const Program& program_ = passes_.program;
  const LinkOptions& options_;
  const bool relocatable_;
  CubinWriter writer_;
  std::shared_ptr<base::StringArena> names_ = std::make_shared<base::StringArena>();
  std::vector<SectionHandle> section_handles_;  // by SectionId
  std::vector<SymbolHandle> symbol_handles_;    // by SymbolId
  std::vector<bool> section_dropped_;
  std::vector<bool> symbol_dropped_;
  std::vector<bool> name_dropped_;  // by SectionId
  absl::flat_hash_map<SectionId, std::uint32_t> entry_of_shared_;
  absl::flat_hash_map<SectionId, const ConstantBank*> changed_banks_;
  std::vector<std::pair<SectionHandle, const ConstantBank*>> new_banks_;
  std::vector<SectionHandle> bank_relocations_;                  // by ConstantLayout::banks
  std::vector<std::pair<SectionHandle, SectionId>> slot_lists_;  // relocations of texture slots
  absl::flat_hash_set<FunctionId> unbounded_entries_;            // whose stack cannot be told
  SectionHandle call_graph_ = kNoSection;
  SectionHandle prototypes_ = kNoSection;
  SectionHandle action_ = kNoSection;
};

}  // namespace devlink::internal
