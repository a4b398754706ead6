// SPDX-License-Identifier: Apache-2.0
#include "devlink/allocator.h"

#include <cstdlib>  // defines __GLIBC__ where that is the library

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace devlink::app {

#ifdef __GLIBC__

void ReturnLargeBlocks() { mallopt(M_MMAP_THRESHOLD, 1 << 16); }
void ReturnFreePages() { malloc_trim(0); }
void KeepLargeBlocks() {
  constexpr int kMapFrom = 1 << 25;  // the most that mallopt takes
  mallopt(M_MMAP_THRESHOLD, kMapFrom);
  mallopt(M_TRIM_THRESHOLD, 2 * kMapFrom);
}
#else
void ReturnLargeBlocks() {}
void ReturnFreePages() {}
void KeepLargeBlocks() {}
#endif

}  // namespace devlink::app
