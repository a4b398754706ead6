// SPDX-License-Identifier: Apache-2.0
template <typename T>
__device__ T Twice(T x);
template <>
__device__ __noinline__ int Twice<int>(int x) {
  return x + x;
}
__device__ int Step(int x) { return x + 1; }
__global__ void Second(int* p) { *p = Twice(*p); }
