// SPDX-License-Identifier: Apache-2.0
//
// Names as nvlink's own demangler spells them.
#pragma once

#include <string>
#include <string_view>

namespace devlink::internal {

// `f(const char *, ns::S&)` for what c++filt calls `f(char const*, ns::S&)`. Names of static
// functions lose the name of their file. Arguments of templates are spelt as c++filt spells them,
// which is not always nvlink's way (docs/compatibility.md).
std::string NameAsNvlinkSpellsIt(std::string_view mangled);

}  // namespace devlink::internal
