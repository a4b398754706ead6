// SPDX-License-Identifier: Apache-2.0
//
// How much memory the answer to "who reaches what" takes. A program of its own, since it replaces
// operator new.
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "link/reach.h"
#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace {

std::size_t live = 0;
std::size_t peak = 0;

void* Count(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  live += malloc_usable_size(memory);
  peak = std::max(peak, live);
  return memory;
}

void Free(void* memory) {
  live -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return Count(std::malloc(size)); }
void* operator new[](std::size_t size) { return Count(std::malloc(size)); }
// The standard library's sorting asks in this way.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size);
  return memory == nullptr ? nullptr : Count(memory);
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { Free(memory); }

namespace devlink::testing {
namespace {

using internal::CallGraph;
using internal::FunctionId;
using internal::OwnItem;
using internal::ReachedItem;

// Each of so many functions holds a thing of its own, calls the next one and is called by a kernel
// of its own: the i-th kernel reaches all things from the i-th on.
constexpr std::uint32_t kCount = 10'000;

TEST_CASE("10,000 kernels that reach 10,000 things take bounded memory", "[reach]") {
  ProgramBuilder builder;
  std::vector<FunctionId> functions;
  std::vector<FunctionId> kernels;
  std::vector<OwnItem> own_items;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    functions.push_back(builder.AddFunction());
    own_items.push_back({functions.back(), i, 0});
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    kernels.push_back(builder.AddFunction(true));
    builder.AddCall(kernels.back(), functions[i]);
    if (i + 1 < kCount) builder.AddCall(functions[i], functions[i + 1]);
  }
  const CallGraph graph(builder.program);

  std::vector<std::uint32_t> found_by(kernels.size(), 0);
  std::vector<std::int64_t> last(kernels.size(), -1);
  bool ascending = true;
  const std::size_t before = live;
  peak = live;
  internal::VisitReachable(graph, own_items, kernels,
                           [&](std::uint32_t kernel, std::span<const ReachedItem> found) {
                             found_by[kernel] += static_cast<std::uint32_t>(found.size());
                             for (const ReachedItem& use : found) {
                               ascending &= last[kernel] < std::int64_t{use.item};
                               last[kernel] = use.item;
                             }
                           });
  CHECK(peak - before < (std::size_t{96} << 20));
  CHECK(ascending);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) wrong += found_by[i] != kCount - i ? 1 : 0;
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace devlink::testing
