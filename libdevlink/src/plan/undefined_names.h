// SPDX-License-Identifier: Apache-2.0
//
// Whether modules refer to a name that none of them defines: what decides on the device runtime.
#pragma once

#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "base/name_hash.h"
#include "model/module.h"

namespace devlink::internal {

// Whether a module asks for a definition of this symbol. Names that the driver knows, weak ones and
// texture references need none.
bool IsWanted(const InputSymbol& symbol);

// Whether it offers one to other modules.
bool IsOffered(const InputSymbol& symbol);

class UndefinedNames {
 public:
  // The module must outlive this.
  void Add(const Module& module);

  [[nodiscard]] bool Any() const;

 private:
  absl::flat_hash_set<std::string_view, base::NameHash> defined_;
  absl::flat_hash_set<std::string_view, base::NameHash> wanted_;
};

}  // namespace devlink::internal
