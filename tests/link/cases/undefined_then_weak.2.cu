// SPDX-License-Identifier: Apache-2.0
template <typename T>
__device__ __noinline__ T Dead(T x) {
  return x + 1;
}
inline __device__ __noinline__ int Twice(int x) { return x * 2; }
__global__ void Second(int* p) { *p = Twice(*p) + 1; }
