// SPDX-License-Identifier: Apache-2.0
//
// Lines of code that was finalized in parts (docs/mercury.md, "In parts").
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "base/hash_table.h"
#include "finalize/file_index.h"

namespace devlink::internal {

// Replaces in both line tables of our own file the lines of each section that was taken by those
// that its part has of it. InvalidArgument, with the table, where a part has other units, or lines
// of other functions.
absl::Status JoinLines(FileIndex& own, const CodeTaken& taken);

}  // namespace devlink::internal
