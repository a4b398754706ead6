// SPDX-License-Identifier: Apache-2.0
//
// The records of `.note.nv.tkinfo` in an assembled cubin. A linked cubin carries them along, so
// they must say what nvlink's own assembler would have said.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "format/notes.h"

namespace devlink::internal {

// Hands every record of the cubin to `change` and returns the cubin with what became of them. Where
// the note changes its size, all that lies behind it moves, each section to the next offset that
// its alignment allows: where ptxas would have put it. Gaps stay; there is one behind `.shstrtab`
// from sm_90 on, where ptxas reserved room for names that it did not write. InvalidArgument where
// the bytes are not a cubin with a readable note; a cubin without the note is returned as it is.
absl::StatusOr<std::vector<std::uint8_t>> ChangeToolRecords(
    std::vector<std::uint8_t> cubin, const std::function<void(format::ToolRecord&)>& change);

}  // namespace devlink::internal
