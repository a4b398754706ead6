// SPDX-License-Identifier: Apache-2.0
// assert calls __assertfail with strings in constant memory.
#include <cassert>
__device__ __noinline__ void Check(int x) { assert(x > 3); }
__global__ void Kernel(int* p) {
  Check(*p);
  assert(p[1] != 0);
}
