// SPDX-License-Identifier: Apache-2.0
#include "devlink/allocator.h"

#include <cstdlib>  // defines __GLIBC__ where that is the library

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace devlink::app {

void ReturnLargeBlocks() {
#ifdef __GLIBC__
  constexpr int kMapFrom = 1 << 16;
  mallopt(M_MMAP_THRESHOLD, kMapFrom);
#endif
}

void ReturnFreePages() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void KeepLargeBlocks() {
#ifdef __GLIBC__
  constexpr int kMapFrom = 1 << 25;  // the most that mallopt takes
  mallopt(M_MMAP_THRESHOLD, kMapFrom);
  mallopt(M_TRIM_THRESHOLD, 2 * kMapFrom);
#endif
}

}  // namespace devlink::app
