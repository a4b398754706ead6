// SPDX-License-Identifier: Apache-2.0
//
// Symbols held to the forms that those of NVIDIA's files have.
#pragma once

#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "format/sm_traits.h"
#include "model/module.h"

namespace devlink::internal {

// Whether it is format::kReservedSharedAlias as assemblers write it, which nothing refers to. Takes
// what has not been checked.
bool IsReservedSharedAlias(const ModuleView& view, std::span<const InputSection> sections,
                           const InputSymbol& symbol);

// What no symbol of a view says that ptxas or nvlink -r wrote; empty where there is nothing of the
// kind. The symbol, and `sections`, which are the view's, have been found sound by themselves;
// `traits` are those of what the file is for; `from_assembler` tells whether an assembler made it.
std::string_view WrongInFormOf(const ModuleView& view, std::span<const InputSection> sections,
                               const InputSymbol& symbol, const format::SmTraits& traits,
                               absl::FunctionRef<bool()> from_assembler);

}  // namespace devlink::internal
