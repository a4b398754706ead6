// SPDX-License-Identifier: Apache-2.0
//
// Describes an executable with two views (docs/mercury.md, "The file"): names, symbols and order
// are those of the merged Mercury view; machine code stands beside it under its own names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "devlink/experimental/cubin_writer.h"
#include "format/line_table.h"
#include "image/changed_banks.h"
#include "image/frames.h"
#include "image/late_sections.h"
#include "image/output_form.h"
#include "image/view_describer.h"
#include "image/view_pairs.h"
#include "link/pass_results.h"

namespace devlink::internal {

// One of the two programs and what is known of it. Borrowed.
struct LinkedView {
  const PassResults& passes;
  const OutputForm& form;
  const ChangedBanks& banks;
  [[nodiscard]] const Program& program() const { return passes.program; }
};

// Its steps are called once each, in the order in which they stand here. Borrows what it is given.
class TwoViewDescriber {
 public:
  TwoViewDescriber(const LinkedView& mercury, const LinkedView& sass, const ViewPairs& pairs,
                   CubinWriter& writer, base::StringArena& names);

  // `spoiling`: as nvlink's -r does those that several sections have.
  void AddNames(bool spoiling);
  void AddSections();
  void AddSymbols();
  void LinkSections();
  // InvalidArgument where a capsule is not one.
  absl::Status FillContents();
  // InvalidArgument where one refers to what the output does not have.
  absl::Status FillRelocations();

  // Sections of machine code, or of both views, by the Mercury view's ids; symbols of `.symtab`.
  [[nodiscard]] const ViewHandles& plain() const { return plain_; }
  // The Mercury view's own sections, and symbols of `.nv.merc.symtab`, by its ids.
  [[nodiscard]] const ViewHandles& mercury() const { return own_; }
  // The same as `plain` by machine code's ids.
  [[nodiscard]] const ViewHandles& sass() const { return sass_handles_; }

 private:
  // Whether the file has tables of wide section indices, and where.
  enum class WideIndices : std::uint8_t { kAbsent, kEarly, kLate };

  // A section that the merge gave none of its kind; of the Mercury view.
  struct LateSection {
    SectionHandle plain = kNoSection;
    SectionHandle own = kNoSection;
    FunctionId kernel = kNone;
    bool has_symbol = false;
    const ConstantBank* bank = nullptr;
    SymbolHandle plain_symbol = kNoSymbol;
  };
  // Relocations of a bank that has no list of them in an input.
  struct LateList {
    SectionHandle plain = kNoSection;
    SectionHandle own = kNoSection;
    std::string_view name;
    SectionId of = kNone;     // the bank; of a late one:
    std::size_t of_late = 0;  // its place in late_sections_
  };

  void AddSection(SectionId id, std::uint32_t number);
  void DecideWideIndices(std::size_t parameters);
  void AddOwnWideIndices(WideIndices when);
  void AddLateSections();
  void AddLateSharedSections();
  // Something that a kernel's bank of constants gets for a function's sake.
  struct BankStep {
    SectionId function = kNone;  // that function's constants
    bool is_list = false;        // of relocations, or the bank itself
    std::size_t kernel = 0;      // its place among those that stay
    std::size_t bank = 0;        // in ConstantLayout::banks
  };
  [[nodiscard]] std::vector<BankStep> StepsOfLateBanks() const;
  void AddLateBanks();
  void AddListOfLateBank(std::size_t index, std::size_t late);
  void AddParameters();
  void AddOwnSections();
  void AddOwnSection(SectionId id);
  SectionHandle AddOwn(std::string_view name, const std::optional<format::MercuryWords>& words,
                       const SectionSpec& spec);
  SectionHandle AddRenamed(std::string_view name, SectionSpec spec);
  void EnterSectionName(std::string_view name);
  std::string_view PlainName(std::string_view name);
  [[nodiscard]] std::uint32_t SectionsOfName(std::string_view name) const;
  void FindCommonNames();

  void AddSymbolPair(SymbolId id);
  void AddInstance(const ExternalInstance& instance);
  SymbolHandle AddSectionSymbol(std::string_view name, SectionHandle plain, SectionHandle own);
  void FindHidden();
  [[nodiscard]] std::uint64_t CodeSizeOf(FunctionId function, std::uint64_t sass) const;
  void RenameConstants();

  void FillPlain(SectionId id);
  absl::Status FillOwn(SectionId id);
  absl::Status FillCapsules();
  void FillReserved(SectionHandle handle, std::uint64_t size);
  void FillCapsule(SectionId id);
  void FillLateBanks();
  void KeepLiveLines();
  void KeepLiveRegisters();
  void PatchLineHeader(const FieldPatch& patch);
  void PatchLineReferences();
  void ApplyPatches();
  void PatchGoneTables();
  [[nodiscard]] bool HasNoLines(SectionId id) const;
  [[nodiscard]] bool HasBytesOfMachineCode(SectionId id) const;
  [[nodiscard]] bool SharesBytes(SectionId id) const;

  const LinkedView& mercury_;
  const LinkedView& sass_;
  const ViewPairs& pairs_;
  CubinWriter& writer_;
  base::StringArena& names_;
  ViewHandles plain_;
  ViewHandles own_;
  ViewHandles sass_handles_;
  SectionHandle own_symbols_ = kNoSection;                        // `.nv.merc.symtab`
  std::vector<std::pair<SymbolHandle, SymbolHandle>> instances_;  // OutputForm::Instances
  std::vector<NumberedSection> late_;                             // Section::comes_late
  std::vector<LateSection> late_sections_;
  base::HashMap<FunctionId, SectionHandle> late_shared_;  // of those
  std::vector<LateList> late_lists_;
  std::vector<std::uint32_t> list_of_bank_;  // by ConstantLayout::banks; kNone: it needs none
  std::vector<SectionId> parameters_;        // of machine code
  base::HashMap<std::string_view, NameHandle> renamed_;  // by the names in the Mercury view
  // Of names that several sections of the output have, how many.
  base::HashMap<std::string_view, std::uint32_t> common_names_;
  WideIndices wide_indices_ = WideIndices::kAbsent;
  SectionHandle own_wide_indices_ = kNoSection;
  std::uint64_t section_names_ = 0;  // size of the names before those that come late
  std::uint64_t symbols_gap_ = 0;    // bytes that nvlink leaves unused in front of `.symtab`
  Frames frames_;
  base::HashMap<SectionId, format::KeptLines> lines_;  // tables of machine code
  // The Mercury view's, no more than their headers.
  base::HashMap<SectionId, format::KeptLines> own_lines_;
  std::vector<std::uint8_t> registers_;  // `.nv_debug_info_reg_sass` of machine code
  base::HashSet<FunctionId> hidden_;     // of the Mercury view: found under an alias first
};

}  // namespace devlink::internal
