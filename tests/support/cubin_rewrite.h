// SPDX-License-Identifier: Apache-2.0
//
// Takes a file apart that the CUDA tools wrote and describes it to a CubinWriter, part by part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace devlink::testing {

// The file as the writer writes it: the same bytes, where the writer can say all that the file
// does. Throws std::logic_error where it refuses.
std::vector<std::uint8_t> RewriteCubin(std::span<const std::uint8_t> file);

}  // namespace devlink::testing
