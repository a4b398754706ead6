// SPDX-License-Identifier: Apache-2.0
//
// What a file holds of its Mercury view, as lines of text: sections in their order, each with its
// size, alignment, owner and bytes; symbols; relocations. nvlink's file and a merged view that was
// written by itself, in the words of machine code, give the same lines where they agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace devlink::testing {

// A file that nvlink linked for sm_100 or later. Left out, because nvlink's finalizer has its hands
// in them: the bytes of capsules (`.nv.capmerc.text.F`), where `capsule_sizes` is false their
// sizes, too, and the sizes of the string tables, to which it appends.
std::vector<std::string> DescribeLinkedMercury(std::span<const std::uint8_t> cubin,
                                               bool capsule_sizes = true);

// A cubin whose only view is a merged Mercury view.
std::vector<std::string> DescribeMergedMercury(std::span<const std::uint8_t> cubin,
                                               bool capsule_sizes = true);

}  // namespace devlink::testing
