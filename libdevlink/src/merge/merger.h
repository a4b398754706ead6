// SPDX-License-Identifier: Apache-2.0
//
// The state of a merge. Only merge*.cc see it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/strings.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/nv_compat.h"
#include "merge/constant_packing.h"
#include "merge/merge.h"
#include "merge/replaced_bodies.h"
#include "model/module.h"

namespace devlink::internal {

class Merger {
 public:
  Merger(const MergeOptions& options, std::span<const LinkInput> inputs,
         std::vector<Diagnostic>& diagnostics);

  absl::StatusOr<Program> Run();

 private:
  // Where a section of the current input went.
  struct Mapping {
    enum State : std::uint8_t { kUnmapped, kMapped, kDiscarded };
    SectionId section = kNone;
    std::uint64_t base = 0;
    State state = kUnmapped;
    bool has_symbols = false;  // of constants of a discarded copy
  };

  // The three passes over one input, and what they call. merge.cc
  void MergeInput(InputId input);
  void CountSections();
  void PrepareInput();

  // merge_functions.cc
  void MergeFunctions();
  void MergeFunction(std::uint32_t index, const InputSymbol& symbol);
  void MergeWhatItStandsFor(const InputSymbol& alias);
  void ReferToFunction(std::uint32_t index, const InputSymbol& symbol);
  void DefineFunction(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void MergeSecondDefinition(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void ReplaceBody(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void ForgetBody(SymbolId symbol, bool by_strong_copy);
  SectionId AddEntryShared(FunctionId function, std::string_view name);
  void AddEntrySections(FunctionId function, const InputSymbol& symbol);
  void CheckFunction(SymbolId known, const InputSymbol& symbol);
  void MapEntryShared(std::uint32_t text_index, SectionId shared, bool take_alignment);

  // merge_objects.cc
  void MergeObjects();
  void MergeObject(std::uint32_t index, const InputSymbol& symbol);
  void ReferToTexture(std::uint32_t index, const InputSymbol& symbol);
  void ReferToObject(std::uint32_t index, const InputSymbol& symbol);
  void MergeCommon(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void MakeCommon(SymbolId id, const InputSymbol& symbol);
  void AllocateCommons();
  void CheckSizes(SymbolId known, const InputSymbol& symbol);
  [[nodiscard]] bool IsInit(const InputSymbol& symbol) const;
  [[nodiscard]] bool IsPlacedExternal(const InputSymbol& symbol) const;
  void DiscardObject(std::uint32_t index, const InputSymbol& symbol, SymbolId known);
  void MapExternalShared();
  void MapLocals(std::uint32_t index);
  void KeepParameterSymbol(std::uint32_t index, const InputSymbol& symbol);
  [[nodiscard]] bool IsOfDiscardedCode(std::uint32_t section) const;
  void DefineObject(std::uint32_t index, const InputSymbol& symbol, SymbolId known,
                    const Mapping& mapping);
  void CheckObject(SymbolId known, const InputSymbol& symbol);
  // `by_variable`: for the sake of one that lies in the section.
  void MapData(std::uint32_t index, bool by_variable);
  void MapFunctionConstants(std::uint32_t index, bool by_variable);
  // The first of that name, for whichever body it was made: nvlink looks no further. It does so
  // with entries, too, and gives them two banks; here it is the last one.
  [[nodiscard]] SectionId FindConstants(const Function& function, std::string_view name) const;
  void TrimConstants();
  void AppendConstants(SectionId id, std::uint32_t index, std::uint64_t offset);
  SectionId AddFunctionConstants(const InputSection& section, SectionId text);

  // merge_sections.cc
  void MergeOtherSections();
  void MergeSection(std::uint32_t index);
  void MergeToolNote(const InputSection& section);
  void MergeCudaNote(const InputSection& section);
  void DescribeTarget();
  void MergeDebug(std::uint32_t index);
  void MergeInfo(std::uint32_t index);
  void MergeInfoRecords(const InputSection& section, SectionId target);
  void MergeCallGraph(const InputSection& section);
  void TakeAddress(FunctionId function, std::uint32_t prototype);
  void TakeAddressesOfDiscarded();
  void MergePrototypes(const InputSection& section);
  void MergeRelocations(std::uint32_t index);
  [[nodiscard]] bool MovesSection(const format::Rela& entry) const;
  [[nodiscard]] bool IsOfDuplicate(const format::Rela& entry, SectionRole role) const;
  [[nodiscard]] bool IsOfDiscarded(const format::Rela& entry, const Mapping& target) const;
  void MergeRelocation(const format::Rela& entry, SectionId list, const Mapping& target);

  // Makers; each enters names as nvlink does. merge.cc
  SectionId AddSection(std::string_view name, SectionKind kind, std::uint32_t type,
                       std::uint32_t flags, std::uint32_t align);
  SymbolId AddSectionSymbol(SectionId section);
  SymbolId AddSymbol(const InputSymbol& symbol, std::uint8_t type);
  FunctionId AddFunction(SymbolId symbol);
  SectionId AddInfoSection(std::string_view name, SectionId text);
  SectionId RelocationSection(std::string_view name, SectionId target, std::uint32_t type);
  std::uint32_t AddPrototype(std::string_view text);
  SectionId FindByName(std::string_view name) const;
  SymbolId FindGlobal(const InputSymbol& symbol) const;
  void AppendPiece(Section& section, base::Bytes bytes, std::uint64_t offset);

  // Findings. merge.cc
  void Report(DiagnosticCode code, std::string_view what, SymbolId first);
  void ReportText(DiagnosticCode code, std::string text, SymbolId symbol);
  void CheckPrototype(SymbolId symbol, std::uint32_t prototype);
  // nvlink knows variables by a type of its own until it writes an executable.
  [[nodiscard]] std::uint8_t ObjectType(const InputSymbol& symbol) const {
    return options_.relocatable ? symbol.type : format::kSttObject;
  }
  [[nodiscard]] const std::string& CurrentName() const { return inputs_[input_].name; }

  const MergeOptions& options_;
  std::span<const LinkInput> inputs_;
  std::vector<Diagnostic>& diagnostics_;
  Program program_;
  std::shared_ptr<base::StringArena> names_ = std::make_shared<base::StringArena>();
  ReplacedBodies replaced_;
  absl::Status failure_;

  absl::flat_hash_map<std::string_view, SymbolId> globals_;  // global and weak symbols
  absl::flat_hash_map<std::string_view, SectionId> named_;   // sections that inputs share by name
  absl::flat_hash_map<std::string_view, std::uint32_t> prototypes_;
  std::vector<bool> address_taken_;  // by FunctionId: already in Program::addresses_taken

  // Of relocatable links: pairs of the call graph so far (list, caller, callee). Two bodies of one
  // function may have the same, which nvlink then keeps once.
  absl::flat_hash_set<std::tuple<format::CallGraphList, FunctionId, FunctionId>> edges_;

  format::CompatMerger compat_;
  ConstantPacking packing_;
  std::uint32_t info_records_ = 0;  // of `.nv.info` sections so far

  // Of the current input; kept to reuse their memory.
  InputId input_ = 0;
  const ModuleView* view_ = nullptr;
  std::vector<InputSection> sections_;
  std::vector<SymbolId> symbol_map_;     // input symbol -> symbol, kNone where it has none
  std::vector<bool> discarded_;          // function symbols whose copy was discarded
  std::vector<bool> duplicate_;          // weak variables that an earlier input has
  std::vector<bool> taken_by_function_;  // functions whose address a function takes
  std::vector<std::pair<std::uint32_t, std::uint32_t>> taken_of_discarded_;  // symbol, prototype
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Range> discarded_init_;  // their bytes in `.nv.global.init`
  std::vector<Mapping> section_map_;
  std::vector<SectionId> surviving_;  // code section of a discarded copy -> the one that stays
  std::vector<std::uint32_t> sized_functions_;  // code section -> its function; made when needed
  std::vector<std::uint64_t> constants_end_;    // function constants -> where their variables end
  std::vector<std::uint32_t> registers_;        // input symbol -> REGCOUNT
  std::vector<std::uint32_t> shared_of_;        // code section -> its `.nv.shared.F`, 0 where none
  std::vector<std::uint32_t> parameters_of_;  // code section -> its `.nv.constant0.F`, 0 where none
};

}  // namespace devlink::internal
