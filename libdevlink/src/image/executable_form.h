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

struct ExecutableOptions {
  bool moved_shared_is_local = false;  // as ToolkitProfile has it
  // Parameters, and other symbols that only code of the same file can name, are listed.
  bool lists_internal = false;
  // Variables that are listed whether or not anything names them. Null: all.
  const std::vector<std::string>* retained = nullptr;
};

// Borrows what it is given.
class ExecutableForm final : public OutputForm {
 public:
  ExecutableForm(const PassResults& passes, const ChangedBanks& banks,
                 const ExecutableOptions& options);

  [[nodiscard]] bool relocatable() const override { return false; }
  [[nodiscard]] const LeftOut& left_out() const override { return left_out_; }
  [[nodiscard]] SectionShape ShapeOfSection(SectionId id) const override;
  [[nodiscard]] SymbolShape ShapeOfSymbol(SymbolId id) const override;

 private:
  void LeaveOutSections();
  void LeaveOutTableNames();
  void LeaveOutSymbols();
  void LeaveOutUnnamed(const std::vector<std::string>& retained);
  [[nodiscard]] bool IsOmitted(SectionId id) const;
  [[nodiscard]] bool LacksSymbol(SectionId id) const;
  [[nodiscard]] bool IsGone(SymbolId id) const;
  [[nodiscard]] const KernelShared& SharedOf(SectionId id) const;

  const PassResults& passes_;
  const Program& program_;
  const ChangedBanks& banks_;
  const ExecutableOptions options_;
  base::HashMap<SectionId, std::uint32_t> kernel_of_shared_;  // place in Liveness::kernels
  LeftOut left_out_;
};

}  // namespace devlink::internal
