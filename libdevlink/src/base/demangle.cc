// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include "llvm/Demangle/Demangle.h"

namespace devlink::base {

std::string Demangle(std::string_view name) { return llvm::demangle(name); }

}  // namespace devlink::base
