// SPDX-License-Identifier: Apache-2.0
//
// The form of what a partial link writes (nvlink -r; docs/relocatable.md): all functions stay, and
// memory keeps the types that the CUDA tools give it before a link.
#pragma once

#include <span>

#include "image/output_form.h"
#include "link/pass_results.h"
#include "link/shared_partial.h"

namespace devlink::internal {

// Borrows what it is given.
class RelocatableForm final : public OutputForm {
 public:
  RelocatableForm(const PassResults& passes, bool keep_references);

  [[nodiscard]] bool relocatable() const override { return true; }
  [[nodiscard]] const LeftOut& left_out() const override { return left_out_; }
  [[nodiscard]] SectionShape ShapeOfSection(SectionId id) const override;
  [[nodiscard]] SymbolShape ShapeOfSymbol(SymbolId id) const override;
  [[nodiscard]] std::span<const ExternalInstance> Instances() const override {
    return shared_.instances;
  }

 private:
  [[nodiscard]] bool IsEmpty(SectionId id) const;
  [[nodiscard]] bool LacksSymbol(SectionId id) const;

  const PassResults& passes_;
  const Program& program_;
  const PartialSharedLayout& shared_;
  const bool keep_references_;
  LeftOut left_out_;
};

}  // namespace devlink::internal
