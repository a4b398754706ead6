// SPDX-License-Identifier: Apache-2.0
//
// A rule for make and ninja: what an output was made of.
#pragma once

#include <set>
#include <string>

#include "absl/status/statusor.h"

namespace devlink::internal {

// Each file also is a target without anything, so that one that is gone does not stop make.
// InvalidArgument for a name that no such rule can have.
absl::StatusOr<std::string> DependencyRule(const std::string& output,
                                           const std::set<std::string>& files);

}  // namespace devlink::internal
