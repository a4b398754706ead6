// SPDX-License-Identifier: Apache-2.0
//
// An ELF file without the bytes that nothing in it refers to any more.
#pragma once

#include <cstdint>
#include <vector>

namespace devlink::format {

// The file with the same sections, of the same content and with the same ones over the same bytes,
// one behind the other as their alignment allows. As it is where it has segments, or where its
// headers are not within it.
std::vector<std::uint8_t> WithoutGaps(std::vector<std::uint8_t> file);

}  // namespace devlink::format
