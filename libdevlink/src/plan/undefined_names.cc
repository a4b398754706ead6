// SPDX-License-Identifier: Apache-2.0
#include "plan/undefined_names.h"

#include <algorithm>
#include <cstdint>

#include "format/driver_names.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

void UndefinedNames::Add(const Module& module) {
  const ModuleView& view = module.sass();
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const InputSymbol symbol = view.SymbolAt(i);
    if (symbol.name.empty() || symbol.binding == format::kStbLocal) continue;
    if (symbol.section != format::kShnUndef) {
      defined_.insert(symbol.name);
    } else if (symbol.binding != format::kStbWeak && !format::IsTextureType(symbol.type) &&
               !format::IsKnownToDriver(symbol.name)) {
      wanted_.insert(symbol.name);
    }
  }
}

bool UndefinedNames::Any() const {
  return std::any_of(wanted_.begin(), wanted_.end(),
                     [this](std::string_view name) { return !defined_.contains(name); });
}

}  // namespace devlink::internal
