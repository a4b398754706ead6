// SPDX-License-Identifier: Apache-2.0
//
// References of a module to names that stand for others (--wrap, --defsym).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "base/hash_table.h"
#include "model/module.h"

namespace devlink::internal {

// The name that is referred to, by the one that the module has.
using Redirections = base::HashMap<std::string, std::string>;

// The module, in which each undefined symbol that `to` names has the other name; the same one where
// that is none. Symbols that the module defines keep their names. InvalidArgument where the file
// would be too large.
absl::StatusOr<ModuleRef> RedirectReferences(const ModuleRef& module, const Redirections& to);

}  // namespace devlink::internal
