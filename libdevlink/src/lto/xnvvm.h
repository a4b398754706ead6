// SPDX-License-Identifier: Apache-2.0
//
// Values of nvlink -Xnvvm, which nvlink reads twice (docs/lto-options.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"

namespace devlink::internal {

// Appends the words of one value. InvalidArgument, and nvlink's fatal line in `found` where that is
// given, for a quote that is left open and a backslash with nothing behind it; of `words` the first
// may have been appended then.
absl::Status AppendXnvvmWords(std::string_view value, std::vector<std::string>& words,
                              std::vector<Diagnostic>* found);

// What nvlink finds wrong with a value already when it reads its command line: a double quote that
// is left open.
absl::Status CheckXnvvm(std::string_view value, std::vector<Diagnostic>* found);

}  // namespace devlink::internal
