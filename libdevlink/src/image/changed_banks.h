// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash_table.h"
#include "link/constant_layout.h"
#include "link/pass_results.h"

namespace devlink::internal {

// Banks of constants that are not as the merged program has them: with the constants of functions,
// or with slots for textures, which come to be last. Borrows the results.
class ChangedBanks {
 public:
  explicit ChangedBanks(const PassResults& passes) {
    for (const ConstantBank& bank : passes.constants.banks) {
      if (bank.section != kNone) banks_[bank.section] = &bank;
    }
    for (const ConstantBank& bank : passes.textures.banks) banks_[bank.section] = &bank;
  }

  // Null where the section is not a bank, or is as merged.
  [[nodiscard]] const ConstantBank* Of(SectionId section) const {
    const auto found = banks_.find(section);
    return found == banks_.end() ? nullptr : found->second;
  }

 private:
  base::HashMap<SectionId, const ConstantBank*> banks_;
};

}  // namespace devlink::internal
