// SPDX-License-Identifier: Apache-2.0
// Inline device functions with static variables, in two files.
inline __device__ __noinline__ int Next() {
  static __device__ int n = 4;
  return n++;
}
__global__ void First(int* p) { *p = Next(); }
