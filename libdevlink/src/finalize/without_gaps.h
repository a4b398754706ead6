// SPDX-License-Identifier: Apache-2.0
//
// An ELF file without the bytes that nothing in it refers to any more.
#pragma once

#include <cstdint>
#include <vector>

namespace devlink::internal {

// The file with the same sections, of the same content and with the same ones over the same bytes,
// one behind the other; each lies at the same place within 128 bytes, which no alignment of a cubin
// exceeds. As it is where it has segments, or where its headers are not within it.
std::vector<std::uint8_t> WithoutGaps(std::vector<std::uint8_t> file);

}  // namespace devlink::internal
