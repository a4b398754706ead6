// SPDX-License-Identifier: Apache-2.0
//
// How the C library treats memory that is freed. Nothing here does anything where that is not
// glibc.
#pragma once

#include <cstddef>

namespace devlink::app {

// Blocks of 64 KiB and more go back to the system when they are freed. Left alone, glibc raises
// that size by itself with every such block; what growing tables leave behind then stays with the
// process. For links. Those of some megabytes come in large pages from then on (large_blocks.cc).
void ReturnLargeBlocks();

// Whether they do. Elsewhere large blocks lie in the heap, side by side, and would lie further
// apart.
bool TakesLargePages();

// Gives pages back of which nothing is in use.
void ReturnFreePages();

// Freed blocks are kept for the next one, as far as glibc would ever go by itself. For assemblers
// within this process, which take and free large blocks all the time: with ReturnLargeBlocks, 1,000
// functions of PTX take 1.5 seconds instead of 1.25.
void KeepLargeBlocks();

// Lets the heap grow by so many bytes, at most half a gigabyte, in large pages where the system has
// them for who asks: a page is taken when it is touched, so that this may be more than is needed.
// What is freed stays with the process until ReturnFreePages, which gives back what is left of it,
// too. For many inputs: the system takes as long to find one small page after the other as it takes
// to read them.
void ExpectToTake(std::size_t bytes);

}  // namespace devlink::app
