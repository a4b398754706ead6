// SPDX-License-Identifier: Apache-2.0
//
// Objects that an earlier link has linked already, as the lists of `nvcc -dlink` say
// (docs/inputs.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace devlink::internal {

struct RegisteredObject;

// One flag for each object: whether `ids`, or the objects themselves, say that it was linked
// before. None is without `directory`, of which the ids of objects that bring none are made.
std::vector<bool> LinkedBefore(std::span<const RegisteredObject> objects,
                               std::span<const std::string> ids,
                               const std::optional<std::string>& directory);

}  // namespace devlink::internal
