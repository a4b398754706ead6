// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/version.h
#pragma once

#include <string_view>

namespace devlink {

// `0.1.0`.
std::string_view Version();

}  // namespace devlink
