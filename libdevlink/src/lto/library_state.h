// SPDX-License-Identifier: Apache-2.0
//
// What one compilation leaves behind in libNVVM, or the libNVVM inside libnvJitLink.
#pragma once

#include <span>
#include <string>

namespace devlink::internal {

// Whether a compilation with these words leaves nothing behind that the next one, or one that runs
// at the same time, would notice. Known for the words that a link passes; others, such as -Xopt, do
// or may. Found by compiling before and after with every word of libNVVM 13.0 that nvlink or a
// person can pass; docs/lto-backends.md has the list.
bool LeavesNothingBehind(std::span<const std::string> words);

}  // namespace devlink::internal
