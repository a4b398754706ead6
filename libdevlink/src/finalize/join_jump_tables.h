// SPDX-License-Identifier: Apache-2.0
//
// Jump tables of code that was finalized in parts (docs/mercury.md, "In parts").
#pragma once

#include <span>

#include "absl/status/status.h"
#include "finalize/file_index.h"

namespace devlink::internal {

// Replaces in the compiler's constants of each function that was taken every entry of a jump table,
// which is a place in code, by that of the part that has this code: the constants of a kernel hold
// the tables of all that it reaches. InvalidArgument, with the section, where a part has other
// constants, or has them elsewhere.
absl::Status JoinJumpTables(FileIndex& own, const CodeTaken& taken,
                            std::span<const FileIndex> parts);

}  // namespace devlink::internal
