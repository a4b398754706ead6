// SPDX-License-Identifier: Apache-2.0
//
// The form of an executable: what is not live is left out, memory has its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash_table.h"
#include "image/changed_banks.h"
#include "image/output_form.h"
#include "link/pass_results.h"

namespace devlink::internal {

// Borrows what it is given.
class ExecutableForm final : public OutputForm {
 public:
  ExecutableForm(const PassResults& passes, const ChangedBanks& banks, bool lists_internal = false,
                 const std::vector<std::string>* retained = nullptr);

  [[nodiscard]] bool relocatable() const override { return false; }
  [[nodiscard]] const LeftOut& left_out() const override { return left_out_; }
  [[nodiscard]] SectionShape ShapeOfSection(SectionId id) const override;
  [[nodiscard]] SymbolShape ShapeOfSymbol(SymbolId id) const override;

 private:
  void LeaveOutSections();
  void LeaveOutSymbols();
  void LeaveOutUnnamed(const std::vector<std::string>& retained);
  [[nodiscard]] bool IsOmitted(SectionId id) const;
  [[nodiscard]] bool LacksSymbol(SectionId id) const;
  [[nodiscard]] bool IsGone(SymbolId id) const;
  [[nodiscard]] const KernelShared& SharedOf(SectionId id) const;

  const PassResults& passes_;
  const Program& program_;
  const ChangedBanks& banks_;
  const bool lists_internal_;  // and other symbols that only code of the same file can name
  base::HashMap<SectionId, std::uint32_t> kernel_of_shared_;  // place in Liveness::kernels
  LeftOut left_out_;
};

}  // namespace devlink::internal
