// SPDX-License-Identifier: Apache-2.0
#include "support/failing_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace devlink::testing {

thread_local constinit FailingMemory memory;

}  // namespace devlink::testing

namespace {

using devlink::testing::memory;

void* Allocate(std::size_t size, std::size_t align) {
  if (memory.left >= 0 && memory.left-- == 0) {
    ++memory.failures;
    if (memory.goes_on_failing) memory.left = 0;
    throw std::bad_alloc();
  }
  ++memory.live;
  void* block = align <= alignof(std::max_align_t)
                    ? std::malloc(size == 0 ? 1 : size)
                    : std::aligned_alloc(align, (size + align - 1) / align * align);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void* AllocateOrNull(std::size_t size) noexcept {
  try {
    return Allocate(size, 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Free(void* block) {
  if (block != nullptr) --memory.live;
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size, 1); }
void* operator new[](std::size_t size) { return Allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t align) {
  return Allocate(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return Allocate(size, static_cast<std::size_t>(align));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return AllocateOrNull(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return AllocateOrNull(size);
}
void operator delete(void* block) noexcept { Free(block); }
void operator delete[](void* block) noexcept { Free(block); }
void operator delete(void* block, std::size_t) noexcept { Free(block); }
void operator delete[](void* block, std::size_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { Free(block); }
