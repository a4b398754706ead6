// SPDX-License-Identifier: Apache-2.0
//
// How the C library treats memory that is freed. Nothing here does anything where that is not
// glibc.
#pragma once

namespace devlink::app {

// Blocks of 64 KiB and more go back to the system when they are freed. Left alone, glibc raises
// that size by itself with every such block; what growing tables leave behind then stays with the
// process. For links.
void ReturnLargeBlocks();

// Gives pages back of which nothing is in use.
void ReturnFreePages();

// Freed blocks are kept for the next one, as far as glibc would ever go by itself. For assemblers
// within this process, which take and free large blocks all the time: with ReturnLargeBlocks, 1,000
// functions of PTX take 1.5 seconds instead of 1.25.
void KeepLargeBlocks();

}  // namespace devlink::app
