// SPDX-License-Identifier: Apache-2.0
// A function with many registers raises the register count of the kernels that reach it.
__device__ int Heavy(const volatile int* p) {
  int v[60];
#pragma unroll
  for (int i = 0; i < 60; ++i) v[i] = p[i];
  __syncthreads();
  int s = 0;
#pragma unroll
  for (int i = 0; i < 60; ++i) s = s * 3 + v[59 - i];
  return s;
}
__device__ int Light(int x) { return x + 1; }
