// SPDX-License-Identifier: Apache-2.0
//
// The finalizer's file is nvlink's, but for the record of the tool. Here it becomes devlink's.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

// The file as devlink writes it: `record` becomes the first one of `.note.nv.tkinfo`.
// InvalidArgument where it is not one that can be taken over.
absl::StatusOr<std::vector<std::uint8_t>> Adopt(base::Bytes cubin, base::Bytes record);

}  // namespace devlink::internal
