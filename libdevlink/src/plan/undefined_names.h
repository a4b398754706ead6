// SPDX-License-Identifier: Apache-2.0
//
// Whether modules refer to a name that none of them defines: what decides on the device runtime.
#pragma once

#include <string_view>

#include "base/hash_table.h"
#include "base/name_hash.h"
#include "model/module.h"

namespace devlink::internal {

// Whether a module asks for a definition of this symbol. Names that the driver knows, weak ones,
// texture references and `extern __shared__ x[]` need none.
bool IsWanted(const InputSymbol& symbol);

// Whether it offers one to other modules.
bool IsOffered(const InputSymbol& symbol);

class UndefinedNames {
 public:
  // In a link with -r only functions count, as the next link may bring variables.
  explicit UndefinedNames(bool functions_only) : functions_only_(functions_only) {}

  // The module must outlive this.
  void Add(const Module& module);

  [[nodiscard]] bool Any() const;

 private:
  const bool functions_only_;
  base::HashSet<std::string_view, base::NameHash> defined_;
  base::HashSet<std::string_view, base::NameHash> wanted_;
};

}  // namespace devlink::internal
