// SPDX-License-Identifier: Apache-2.0
#include "plan/undefined_names.h"

#include <algorithm>
#include <cstdint>

#include "format/driver_names.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

namespace {

// `extern __shared__ x[]`, which the launch gives its size.
bool IsExternalShared(const InputSymbol& symbol) {
  return (symbol.other & format::kStoSpaceMask) == format::kStoShared && symbol.size == 0;
}

}  // namespace

bool IsWanted(const InputSymbol& symbol) {
  return !symbol.name.empty() && symbol.section == format::kShnUndef &&
         symbol.binding != format::kStbLocal && symbol.binding != format::kStbWeak &&
         !IsExternalShared(symbol) && !format::IsTextureType(symbol.type) &&
         !format::IsKnownToDriver(symbol.name);
}

bool IsOffered(const InputSymbol& symbol) {
  return !symbol.name.empty() && symbol.section != format::kShnUndef &&
         symbol.binding != format::kStbLocal;
}

void UndefinedNames::Add(const Module& module) {
  const ModuleView& view = module.sass();
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const InputSymbol symbol = view.SymbolAt(i);
    if (IsOffered(symbol)) defined_.insert(symbol.name);
    if (functions_only_ && symbol.type != format::kSttFunc) continue;
    if (IsWanted(symbol)) wanted_.insert(symbol.name);
  }
}

bool UndefinedNames::Any() const {
  return std::any_of(wanted_.begin(), wanted_.end(),
                     [this](std::string_view name) { return !defined_.contains(name); });
}

}  // namespace devlink::internal
