// SPDX-License-Identifier: Apache-2.0
inline __device__ __noinline__ int Next() {
  static __device__ int n = 4;
  return n++;
}
__global__ void Second(int* p) { *p = Next() * 2; }
