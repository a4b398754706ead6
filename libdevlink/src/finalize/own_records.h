// SPDX-License-Identifier: Apache-2.0
//
// Attributes as our own merge has them, in the finalizer's file. Where host code asks for one
// kernel, nvlink treats others that stay, since device code uses them, as functions of that one
// (docs/host-references.md). libnvJitLink knows no host code: told of all of them, it treats them
// as kernels that were asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

// The finalizer's file with the attributes of `own`, which is the same link without the finalizer;
// but what says where something lies in code stays. InvalidArgument where the two files do not have
// the same sections and symbols.
absl::StatusOr<std::vector<std::uint8_t>> WithOwnRecords(base::Bytes finalized, base::Bytes own);

// The same for the attributes of one function.
absl::StatusOr<std::vector<std::uint8_t>> JoinRecords(base::Bytes finalized, base::Bytes own);

}  // namespace devlink::internal
