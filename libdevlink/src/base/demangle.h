// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace devlink::base {

// The C++ spelling of an Itanium-mangled name, or the name itself where it is none.
std::string Demangle(std::string_view name);

}  // namespace devlink::base
