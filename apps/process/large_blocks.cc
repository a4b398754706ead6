// SPDX-License-Identifier: Apache-2.0
//
// operator new of the command: blocks of two megabytes and more come in large pages, where the
// system has them for who asks. The tables of a link of thousands of inputs are such blocks, which
// grow by being copied into new ones, and the system takes as long to find one small page after the
// other for them as it takes to fill them. A block's last part that is smaller than a large page
// stays small, and so does what is smaller as a whole (docs/speed.md, "What memory costs").
#include <cstddef>
#include <cstdlib>
#include <new>

#include "process/allocator.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace {

#if defined(__linux__) && defined(MADV_HUGEPAGE)
constexpr std::size_t kLargePage = std::size_t{1} << 21;

void* Take(std::size_t size) {
  if (size < kLargePage || !devlink::app::TakesLargePages()) return std::malloc(size);
  const std::size_t pages = size / kLargePage * kLargePage;
  if (pages > static_cast<std::size_t>(-1) - 2 * kLargePage) return nullptr;
  void* const block = std::aligned_alloc(kLargePage, pages + (size == pages ? 0 : kLargePage));
  if (block != nullptr) madvise(block, pages, MADV_HUGEPAGE);
  return block;
}
#else
void* Take(std::size_t size) { return std::malloc(size); }
#endif

}  // namespace

void* operator new(std::size_t size) {
  if (size == 0) size = 1;
  for (;;) {
    if (void* const block = Take(size)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
