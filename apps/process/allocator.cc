// SPDX-License-Identifier: Apache-2.0
#include "process/allocator.h"

#include <atomic>
#include <cstdlib>  // defines __GLIBC__ where that is the library

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#endif

namespace devlink::app {

namespace {

std::atomic<bool> takes_large_pages = false;

}  // namespace

bool TakesLargePages() { return takes_large_pages.load(std::memory_order_relaxed); }

#ifdef __GLIBC__

void ReturnLargeBlocks() {
  mallopt(M_MMAP_THRESHOLD, 1 << 16);
  takes_large_pages = true;
}
void ReturnFreePages() { malloc_trim(0); }
void KeepLargeBlocks() {
  takes_large_pages = false;
  constexpr int kMapFrom = 1 << 25;  // the most that mallopt takes
  mallopt(M_MMAP_THRESHOLD, kMapFrom);
  mallopt(M_TRIM_THRESHOLD, 2 * kMapFrom);
}

void ExpectToTake(std::size_t bytes) {
  constexpr int kLargePage = 1 << 21;
  constexpr int kMost = 1 << 29;
  constexpr int kMoreThanIsLeft = 1 << 18;  // glibc takes half of that at a time
  char* const begin = static_cast<char*>(sbrk(0));
  mallopt(M_MMAP_THRESHOLD, 2 * kMoreThanIsLeft);
  mallopt(M_TRIM_THRESHOLD, 2 * kMost);
  mallopt(M_TOP_PAD, static_cast<int>(std::min<std::size_t>(bytes, kMost)));
  void* volatile block = std::malloc(kMoreThanIsLeft);  // the compiler would leave it out
  std::free(block);
  mallopt(M_TOP_PAD, kLargePage);
#ifdef MADV_HUGEPAGE
  // Where the heap could not grow, and where there are no such pages, all is as it was.
  char* const end = static_cast<char*>(sbrk(0));
  const std::size_t in_front = -reinterpret_cast<std::uintptr_t>(begin) % kLargePage;
  if (end - begin > kLargePage) madvise(begin + in_front, end - begin - in_front, MADV_HUGEPAGE);
#endif
}
#else
void ExpectToTake(std::size_t) {}
void ReturnLargeBlocks() {}
void ReturnFreePages() {}
void KeepLargeBlocks() {}
#endif

}  // namespace devlink::app
