// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "absl/status/status.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

// For cubins that went through `nvlink -r`, as libnvJitLink's do: it writes addresses of shared
// memory and constants and numbers of texture, sampler and surface references into the code before
// anything is laid out and drops the references, so that what is linked from them uses other memory
// than the program says (docs/relocatable.md). Unimplemented where `cubin` has any of these,
// InvalidArgument where it is damaged.
absl::Status RefuseEarlyReferences(base::Bytes cubin);

}  // namespace devlink::internal
