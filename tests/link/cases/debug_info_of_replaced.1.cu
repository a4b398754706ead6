// SPDX-License-Identifier: Apache-2.0
// A weak function that another file defines strongly: its relocations in `.debug_info` stay, those
// in other debug sections go where they have addends.
// flags: -G
extern __device__ int Step(int x);
template <typename T>
__device__ __noinline__ T Twice(T x) {
  return x * 2 + Step(x);
}
__global__ void First(int* p) { *p = Twice(*p); }
